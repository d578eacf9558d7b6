import { join } from 'node:path'
import { hashInputs, isStamped, stamp } from './inputs.mjs'
import { phase } from './phases.mjs'
import { run } from './run.mjs'

/** Everything that can change the panel's pages. */
const PAGE_INPUTS = ['apps/dashboard', 'packages/contracts/src', 'pnpm-lock.yaml', 'tsconfig.base.json']

/**
 * Bundles every program (quick, each time) and builds the panel's pages when something of theirs changed.
 * @param {string} root
 */
export async function buildPrograms(root) {
  await phase('bundle the programs', () => run(process.execPath, [join('infra', 'build.mjs')], { cwd: root }))
  const hash = hashInputs(root, PAGE_INPUTS, process.version)
  const stampFile = join(root, 'apps', 'dashboard', '.next', 'km0-built')
  if (isStamped(stampFile, hash)) return
  await phase('build the pages of the panel', () => run(process.execPath, [join('infra', 'build.mjs'), '--pages'], { cwd: root }))
  stamp(stampFile, hash)
}
