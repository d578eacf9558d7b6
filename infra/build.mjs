// Bundles every program of the platform with esbuild: one ES module per entry, workspace code inside, npm packages outside.
// `node infra/build.mjs [WORD…]` bundles the entries whose path holds a word, all without one; `--pages` builds the panel's pages instead (next build).
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** Entry file -> bundle. A program that does not exist yet is an error: an entry that nobody builds is dead code. */
const programs = {
  'apps/bridge/src/main.ts': 'apps/bridge/dist/main.js',
  'apps/stream/src/main.ts': 'apps/stream/dist/main.js',
  'apps/batch/src/main.ts': 'apps/batch/dist/main.js',
  'apps/batch/src/worker.ts': 'apps/batch/dist/worker.js',
  'apps/dashboard/src/main.ts': 'apps/dashboard/dist/main.js',
  'apps/dashboard/src/lake-reader.ts': 'apps/dashboard/dist/lake-reader.js',
  'packages/fleet/src/main.ts': 'packages/fleet/dist/main.js',
  'packages/fleet/src/stock-main.ts': 'packages/fleet/dist/stock.js',
  'packages/cli/src/replay.ts': 'packages/cli/dist/replay.js',
  'packages/cli/src/ledger.ts': 'packages/cli/dist/ledger.js',
  'packages/cli/src/verify.ts': 'packages/cli/dist/verify.js',
  'packages/cli/src/km0.ts': 'packages/cli/dist/km0.js',
  'infra/embedded/broker-main.ts': 'infra/dist/broker.js',
  'infra/launcher/main.ts': 'infra/dist/launcher.js',
  'infra/engines/host/main.ts': 'infra/dist/engine.js',
}

/** The core for foreign engines: one script without imports, which names its functions as members of `km0`. infra/engines/README.md tells them. */
const engine = { entry: 'packages/pipelines/src/engine/index.ts', outfile: 'infra/engines/dist/km0-engine.js' }

/** @type {import('esbuild').Plugin} */
const workspaceInside = {
  name: 'workspace-inside',
  setup(bundler) {
    // Everything that is neither relative nor ours stays an import, resolved by Node from the package that declares it.
    bundler.onResolve({ filter: /^[^./]/ }, (args) => {
      if (args.kind === 'entry-point' || args.path.startsWith('@km0/')) return undefined
      return { external: true }
    })
  },
}

/** Makes the basemap out of npm data and builds the pages. Exits with their code when one fails. */
function buildPages() {
  const dashboard = join(root, 'apps', 'dashboard')
  const next = join(root, 'node_modules', 'next', 'dist', 'bin', 'next')
  for (const words of [[join('scripts', 'basemap.mjs')], [next, 'build']]) {
    const { status } = spawnSync(process.execPath, words, {
      cwd: dashboard,
      stdio: 'inherit',
      env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1' },
    })
    if (status !== 0) process.exit(status ?? 1)
  }
}

/** @param {readonly string[]} only */
async function bundle(only) {
  for (const [entry, outfile] of Object.entries(programs)) {
    if (only.length > 0 && !only.some((word) => entry.includes(word))) continue
    if (!existsSync(join(root, entry))) {
      console.error(`build: ${entry} is missing`)
      process.exitCode = 1
      continue
    }
    const built = build({
      entryPoints: [join(root, entry)],
      outfile: join(root, outfile),
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      sourcemap: true,
      logLevel: 'warning',
      plugins: [workspaceInside],
    })
    // esbuild has said what is wrong.
    await built.catch(() => process.exit(1))
  }
}

async function bundleEngine() {
  const built = build({
    entryPoints: [join(root, engine.entry)],
    outfile: join(root, engine.outfile),
    bundle: true,
    format: 'iife',
    globalName: 'km0',
    platform: 'neutral',
    target: 'es2022',
    // `var km0` of a script is a global in every engine.
    mainFields: ['module', 'main'],
    conditions: ['import'],
    logLevel: 'warning',
  })
  await built.catch(() => process.exit(1))
}

const words = process.argv.slice(2)
if (words.includes('--pages')) buildPages()
else if (words.includes('--engine')) await bundleEngine()
else {
  await bundle(words.filter((word) => !word.startsWith('--')))
  if (words.length === 0) await bundleEngine()
}
