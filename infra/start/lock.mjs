import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Commands for people find the running platform's services in it (packages/cli). */
const FILE = 'run.json'

/**
 * What is known of the platform that runs on a data folder.
 * @typedef {{pid: number, startTicks: string | null, url: string | null}} Running
 */

/**
 * When a process was started, so that a pid that was given away again is not mistaken for ours; null where the system does not say.
 * @param {number} pid
 */
function startTicks(pid) {
  try {
    // The name in field 2 may hold spaces and brackets; field 22 is counted from behind it.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? null
  } catch {
    return null
  }
}

/** @param {Running} running */
function isAlive(running) {
  try {
    process.kill(running.pid, 0)
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPERM') return false
  }
  return running.startTicks === null || startTicks(running.pid) === running.startTicks
}

/** The platform that runs on this folder now; null when none does or a stale file says so. @param {string} folder @returns {Running | null} */
export function whoRuns(folder) {
  try {
    const running = JSON.parse(readFileSync(join(folder, FILE), 'utf8'))
    return isAlive(running) ? running : null
  } catch {
    return null
  }
}

/**
 * Takes the folder for this process. Returns who has it when somebody else does, null when it is ours. A stale lock is taken over.
 * @param {string} folder
 * @returns {Running | null}
 */
export function takeLock(folder) {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, FILE)
  const mine = JSON.stringify({ pid: process.pid, startTicks: startTicks(process.pid), url: null })
  for (;;) {
    try {
      writeFileSync(file, mine, { flag: 'wx', mode: 0o600 })
      return null
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
    }
    const other = whoRuns(folder)
    if (other !== null) return other
    rmSync(file, { force: true })
  }
}

/**
 * Says more of what runs to whoever asks next: where the panel is, where the services are. Nobody else may read it: the database's address has its password.
 * @param {string} folder
 * @param {{url?: string, kafkaBrokers?: string, databaseUrl?: string, redisUrl?: string, mqttUrl?: string}} what
 */
export function announce(folder, what) {
  const file = join(folder, FILE)
  const part = `${file}.part`
  const before = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(part, JSON.stringify({ ...before, ...what }), { mode: 0o600 })
  renameSync(part, file)
}

/** @param {string} folder */
export function releaseLock(folder) {
  if (whoRuns(folder)?.pid === process.pid) rmSync(join(folder, FILE), { force: true })
}
