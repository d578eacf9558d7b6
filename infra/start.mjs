// `npm start`. Plain JavaScript without dependencies: it runs on a fresh clone. Checks what must be there, installs, builds what changed,
// then hands over to the launcher (infra/launcher), in this same process, so that signals need no forwarding.
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { HELP, parseArguments } from './start/arguments.mjs'
import { buildPrograms } from './start/build.mjs'
import { dataFolder } from './start/folders.mjs'
import { installPackages, installServices } from './start/install.mjs'
import { whoRuns } from './start/lock.mjs'
import { checkRequirements } from './start/requirements.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** @param {string} message @returns {never} */
function giveUp(message) {
  console.error(message)
  process.exit(1)
}

/** @returns {import('./start/arguments.mjs').StartOptions} */
function options() {
  try {
    return parseArguments(process.argv.slice(2))
  } catch (error) {
    return giveUp(`npm start: ${/** @type {Error} */ (error).message}\n\n${HELP}`)
  }
}

const wanted = options()
if (wanted.help) {
  process.stdout.write(HELP)
  process.exit(0)
}
const missing = checkRequirements(root)
if (missing !== null) giveUp(missing)
const running = whoRuns(dataFolder(wanted, root))
if (running !== null) giveUp(`It runs already (process ${running.pid}). Panel: ${running.url ?? 'not ready yet'}`)
try {
  await installPackages(root)
  await installServices(root)
  await buildPrograms(root)
} catch (error) {
  giveUp(/** @type {Error} */ (error).message)
}
await import(pathToFileURL(join(root, 'infra', 'dist', 'launcher.js')).href)
