// `node infra/kubernetes-check.mjs`: the manifests of infra/kubernetes against Kubernetes' own schemas, strictly: a misspelt field is an error. The
// schemas are those of kubernetes-validate (Apache-2.0, PyPI), which is installed once a user, without touching the machine's Python. Exit 1 names
// what is wrong; without pip, or where it reaches nothing, it says so and ends with 0, since that is no fault of the manifests.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheRoot } from './embedded/cache.mjs'

const VERSION = '1.37.0'
/** The newest that it knows, and one of two years before: clusters are upgraded late. */
const KUBERNETES = ['1.37.0', '1.31.0']
const INSTALL_TIMEOUT_MS = 300_000

const folder = join(dirname(fileURLToPath(import.meta.url)), 'kubernetes')
const target = join(cacheRoot(), `kubernetes-validate-${VERSION}`)

/** Installs it where it is not there yet. @returns {string | null} why it could not */
function install() {
  if (existsSync(target)) return null
  mkdirSync(cacheRoot(), { recursive: true })
  const part = mkdtempSync(`${target}.part-`)
  try {
    const words = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--target', part, `kubernetes-validate==${VERSION}`]
    const { status, stderr, error } = spawnSync('python3', words, { encoding: 'utf8', timeout: INSTALL_TIMEOUT_MS })
    if (status !== 0) return (error?.message ?? stderr).trim().slice(-500)
    if (!existsSync(target)) renameSync(part, target)
    return null
  } finally {
    rmSync(part, { recursive: true, force: true })
  }
}

const missing = install()
if (missing !== null) console.log(`kubernetes: not checked, kubernetes-validate could not be installed\n${missing}`)
else {
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
  for (const version of KUBERNETES) {
    const words = ['-m', 'kubernetes_validate', '--strict', '-k', version, ...files.map((name) => join(folder, name))]
    const { status, stdout, stderr } = spawnSync('python3', words, {
      encoding: 'utf8',
      env: { ...process.env, PYTHONPATH: target, PYTHONDONTWRITEBYTECODE: '1' },
    })
    const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.trim() !== '')
    const passed = lines.filter((line) => / passed for resource /.test(line)).length
    console.log(`kubernetes: ${passed} objects of ${files.length} files hold what ${version} asks`)
    // A checker that has seen nothing says success.
    if (status === 0 && passed >= files.length) continue
    console.error(lines.filter((line) => !/ passed for resource /.test(line)).join('\n') || `exit ${status}`)
    process.exitCode = 1
  }
}
