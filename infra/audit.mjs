// `node infra/audit.mjs`: known faults of what is installed for production, by `pnpm audit`. Exit 1 when there is one of `high` or worse;
// where the service cannot be reached it says so and ends with 0, since that is no fault of ours.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const { stdout, stderr, error } = spawnSync('npx', ['-y', packageManager, 'audit', '--prod', '--json'], {
  cwd: root,
  encoding: 'utf8',
  timeout: 120_000,
  maxBuffer: 64 * 1024 * 1024,
})

/** @type {{metadata?: {vulnerabilities?: Record<string, number>}, advisories?: Record<string, {severity: string, module_name: string, title: string, url: string}>} | null} */
let report = null
try {
  report = JSON.parse(stdout)
} catch {
  // Said below.
}
const counts = report?.metadata?.vulnerabilities
if (report === null || counts === undefined) {
  console.log(
    `audit: not done, the service of the registry gives no answer\n${(error?.message ?? `${stdout}${stderr}`).trim().slice(0, 500)}`,
  )
} else {
  for (const { severity, module_name, title, url } of Object.values(report.advisories ?? {}))
    console.log(`${severity} ${module_name}: ${title} ${url}`)
  console.log(`audit: ${JSON.stringify(counts)}`)
  process.exitCode = (counts.high ?? 0) + (counts.critical ?? 0) > 0 ? 1 : 0
}
