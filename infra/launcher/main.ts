// The launcher: started by infra/start.mjs when everything is installed and built. Runs services and parts until it is told to stop.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { startGuard } from '../embedded/guard.ts'
import { repositoryRoot } from '../embedded/paths.ts'
import { parseArguments } from '../start/arguments.mjs'
import { DATA_VERSION, dataFolder } from '../start/folders.mjs'
import { announce, releaseLock, takeLock } from '../start/lock.mjs'
import { seconds } from '../start/phases.mjs'
import { resetDataFolder } from './data-version.ts'
import { Platform } from './platform.ts'

const STOP_WITHIN_MS = 14_000
/** npm passes a terminal's Ctrl-C on a second time; only one that comes later is a person in a hurry. */
const HURRY_AFTER_MS = 2_000

const say = (line: string) => console.log(line)

const root = repositoryRoot()
const parsed = parseArguments(process.argv.slice(2))
const options = { ...parsed, play: parsed.play === null ? null : resolve(parsed.play) }
if (options.play !== null && !existsSync(options.play)) giveUp(`npm start: there is no file ${options.play}`)
const folder = dataFolder(options, root)
const other = takeLock(folder)
if (other !== null) giveUp(`It runs already (process ${other.pid}). Panel: ${other.url ?? 'not ready yet'}`)
process.once('exit', () => releaseLock(folder))
await resetWhenAsked()

const stopping = new AbortController()
// Twice the time that an ordered stop takes: it acts only when this process could not.
const guard = startGuard(STOP_WITHIN_MS)
const platform = new Platform({
  root,
  folder,
  start: options,
  guard,
  say,
  signal: stopping.signal,
  onHopeless: (reason) => void stop(1, reason),
})
let stopped: Promise<void> | null = null
let stopAskedMs = 0
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stopped !== null && performance.now() - stopAskedMs > HURRY_AFTER_MS) process.exit(1)
    void stop(0, signal === 'SIGINT' ? 'Ctrl-C' : signal)
  })
}
// A terminal or pipe that is gone must not keep the platform from stopping in order.
process.stdout.on('error', () => {})

const startedMs = performance.now()
try {
  const url = await platform.start()
  announce(folder, { url })
  say(`Ready after ${seconds(performance.now() - startedMs)}. Logs: ${folder}/logs. Ctrl-C stops everything.`)
  const link = await platform.signInLink()
  say(link === null ? 'A new one-time sign-in link: pnpm km0 user link' : `Sign in, once: ${link}`)
  say(`Panel: ${url}`)
} catch (error) {
  if (!stopping.signal.aborted) await stop(1, (error as Error).message)
}

function giveUp(message: string): never {
  console.error(message)
  process.exit(1)
}

async function resetWhenAsked(): Promise<void> {
  // A played day begins with an empty log each time: in one that has gone further, all of it would be late.
  if (options.play !== null) return resetDataFolder(folder, [DATA_VERSION])
  if (!options.reset) return
  if (!options.yes) {
    if (!process.stdin.isTTY) giveUp('npm start -- --reset deletes all data; without a terminal say --yes too')
    const terminal = createInterface({ input: process.stdin, output: process.stdout })
    const answer = await terminal.question(`Delete all data in ${folder}? [y/N] `)
    terminal.close()
    if (!/^y(es)?$/i.test(answer.trim())) giveUp('Nothing was deleted, nothing was started.')
  }
  resetDataFolder(folder, [DATA_VERSION])
}

/** Ordered stop, once. Ends the process. */
function stop(code: number, reason: string): Promise<void> {
  stopped ??= (async () => {
    stopAskedMs = performance.now()
    say(`Stopping: ${reason}`)
    stopping.abort()
    const lastMs = setTimeout(() => process.exit(1), STOP_WITHIN_MS)
    await platform.stop(STOP_WITHIN_MS).catch((error: Error) => say(error.message))
    clearTimeout(lastMs)
    await guard.close()
    say(`Stopped (${seconds(performance.now() - stopAskedMs)})`)
    process.exit(code)
  })()
  return stopped
}
