// Outlives its parent for a moment, to clean up after it. The parent writes lines to standard input: `+ PID` (leader of a process group), `- PID`,
// `dir PATH` (a folder that goes too). When the pipe closes, however the parent ended, every group left gets SIGTERM, after graceMs SIGKILL,
// and the folders are removed. Usage: node guard.mjs graceMs
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'

const graceMs = Number(process.argv[2] ?? 0)
const groups = new Set()
const folders = new Set()

/** @param {number} pid @param {NodeJS.Signals} name */
const signal = (pid, name) => {
  try {
    process.kill(-pid, name)
    return true
  } catch {
    return false
  }
}

async function cleanUp() {
  const deadlineMs = Date.now() + graceMs
  while (groups.size > 0 && Date.now() < deadlineMs) {
    for (const pid of groups) if (!signal(pid, 'SIGTERM')) groups.delete(pid)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  for (const pid of groups) signal(pid, 'SIGKILL')
  if (groups.size > 0) await new Promise((resolve) => setTimeout(resolve, 200))
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  process.exit(0)
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {})
const lines = createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const [word, ...rest] = line.split(' ')
  const value = rest.join(' ')
  if (word === '+') groups.add(Number(value))
  else if (word === '-') groups.delete(Number(value))
  else if (word === 'dir') folders.add(value)
})
lines.on('close', cleanUp)
