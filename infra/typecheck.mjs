// Type-checks each room with its own tsconfig (pure rooms know no I/O types), two at a time. Prints what failed; exit 1 when anything did.
import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const rooms = ['packages', 'apps'].flatMap((floor) => readdirSync(floor).map((name) => join(floor, name)))
const projects = [...rooms, 'infra', 'test'].filter((room) => existsSync(join(room, 'tsconfig.json')))
const tsc = join('node_modules', 'typescript', 'bin', 'tsc')
let failed = 0
const queue = [...projects]
async function worker() {
  for (let room = queue.shift(); room !== undefined; room = queue.shift()) {
    try {
      await run(process.execPath, [tsc, '-p', room, '--noEmit'])
    } catch (error) {
      failed += 1
      console.error(`${room}\n${/** @type {{stdout?: string}} */ (error).stdout ?? error}`)
    }
  }
}
await Promise.all([worker(), worker()])
console.log(`typecheck: ${projects.length - failed} of ${projects.length} rooms`)
process.exit(failed > 0 ? 1 : 0)
