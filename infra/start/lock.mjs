import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Commands for people find the running platform's services in it (packages/cli). */
const FILE = 'run.json'
/** Held for the moment in which a stale lock is taken away. */
const TAKING = 'run.taking'
/** A lock is made and then filled: one that is not readable may be young. */
const YOUNG_MS = 2_000
const WAIT_MS = 20

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

/** What a lock says; null when it is not there, or not whole. @param {string} file @returns {Running | null} */
function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}

/** The platform that runs on this folder now; null when none does or a stale file says so. @param {string} folder @returns {Running | null} */
export function whoRuns(folder) {
  const running = read(join(folder, FILE))
  return running !== null && isAlive(running) ? running : null
}

/**
 * Makes a file that was not there. False when it was.
 * @param {string} file
 * @param {string} text
 */
function create(file, text) {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
    return false
  }
}

/** Whether a file is there, and not just made. @param {string} file */
function isOld(file) {
  try {
    return Date.now() - statSync(file).mtimeMs >= YOUNG_MS
  } catch {
    return false
  }
}

/**
 * Takes a stale lock away, so that nobody takes away what another has just made in its place: one at a time, and each looks again.
 * @param {string} folder
 */
function removeStale(folder) {
  const taking = join(folder, TAKING)
  if (!create(taking, '')) {
    // Whoever makes it takes it away in the same breath, or died over it.
    if (isOld(taking)) rmSync(taking, { force: true })
    return
  }
  const file = join(folder, FILE)
  // Looked at once: a lock that is made meanwhile is not judged by what was there, or was not, a moment before.
  const running = read(file)
  if (running === null ? isOld(file) : !isAlive(running)) rmSync(file, { force: true })
  rmSync(taking, { force: true })
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
    if (create(file, mine)) return null
    const other = whoRuns(folder)
    if (other !== null) return other
    removeStale(folder)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS)
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
