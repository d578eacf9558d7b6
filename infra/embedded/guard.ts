import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { repositoryRoot } from './paths.ts'

/** Sees to it that no process group (and no temporary folder) outlives this process, even when it is killed with -9. */
export interface Guard {
  watch(pid: number): void
  forget(pid: number): void
  removeAfterwards(folder: string): void
  /** Ends the guard: what is still watched is stopped, folders are removed. Resolves when that is done. */
  close(): Promise<void>
}

/** Starts the guard process. Groups left when this process is gone get SIGTERM at once and SIGKILL after `graceMs`. */
export function startGuard(graceMs: number): Guard {
  const child = spawn(process.execPath, [join(repositoryRoot(), 'infra', 'embedded', 'guard.mjs'), String(graceMs)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  // The pipe breaks only when somebody ended the guard; the services then run unwatched, which is no reason to stop them.
  child.stdin.on('error', () => {})
  child.unref()
  const stdin = child.stdin as typeof child.stdin & { unref?: () => void }
  stdin.unref?.()
  const say = (line: string) => void child.stdin.write(`${line}\n`)
  return {
    watch: (pid) => say(`+ ${pid}`),
    forget: (pid) => say(`- ${pid}`),
    removeAfterwards: (folder) => say(`dir ${folder}`),
    async close() {
      child.ref()
      child.stdin.end()
      await ended
    },
  }
}
