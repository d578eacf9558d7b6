// Bundles every program of the platform with esbuild: one ES module per entry, workspace code inside, npm packages outside.
// `node infra/build.mjs [--dashboard]`; the panel's pages (next build) are built only when asked for or when their sources changed.
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
  'apps/dashboard/src/main.ts': 'apps/dashboard/dist/main.js',
  'packages/fleet/src/main.ts': 'packages/fleet/dist/main.js',
  'packages/cli/src/replay.ts': 'packages/cli/dist/replay.js',
  'packages/cli/src/verify.ts': 'packages/cli/dist/verify.js',
  'packages/cli/src/km0.ts': 'packages/cli/dist/km0.js',
  'infra/embedded/broker-main.ts': 'infra/dist/broker.js',
  'infra/launcher/main.ts': 'infra/dist/launcher.js',
}

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

const only = process.argv.slice(2).filter((word) => !word.startsWith('--'))
for (const [entry, outfile] of Object.entries(programs)) {
  if (only.length > 0 && !only.some((word) => entry.includes(word))) continue
  if (!existsSync(join(root, entry))) {
    console.error(`build: ${entry} is missing`)
    process.exitCode = 1
    continue
  }
  await build({
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
}
