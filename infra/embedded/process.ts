import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Guard } from './guard.ts'

const READY_POLL_MS = 50
const LAST_LINES = 15

export interface ServiceOptions {
  /** Short name for messages. */
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string
  readonly environment?: NodeJS.ProcessEnv
  readonly uid?: number
  readonly gid?: number
  /** Standard output and error are appended to it. */
  readonly logFile: string
  /** Asked every 50 ms until it says true. */
  readonly ready: () => Promise<boolean>
  readonly readyTimeoutMs: number
  readonly stopSignal: NodeJS.Signals
  /** After it the group is killed. */
  readonly stopTimeoutMs: number
  readonly guard?: Guard | undefined
}

export interface Service {
  readonly pid: number
  /** Asks it to end and waits; kills it when it does not. Resolves at once when it has ended. */
  stop(): Promise<void>
  /** kill -9 of its process group. Resolves when it has ended. */
  kill9(): Promise<void>
  /** Resolves when it has ended, however that came. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
}

/** The last lines of a log file, for a message. Empty text when it cannot be read. */
export function lastLines(file: string, count = LAST_LINES): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count).join('\n')
  } catch {
    return ''
  }
}

/** Starts a program in a process group of its own (a terminal's Ctrl-C does not reach it) and waits until it is ready. Throws with its last log lines when it ends before, or is not ready in time. */
export async function startService(options: ServiceOptions): Promise<Service> {
  mkdirSync(dirname(options.logFile), { recursive: true })
  const log = openSync(options.logFile, 'a')
  const child = spawn(options.command, [...options.args], {
    cwd: options.cwd,
    env: options.environment ?? process.env,
    uid: options.uid,
    gid: options.gid,
    detached: true,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  const ended = endOf(child)
  if (child.pid === undefined) {
    const { error } = await ended
    throw new Error(`${options.name}: cannot start ${options.command}: ${error?.message ?? 'unknown reason'}`)
  }
  const service = handle(child, child.pid, ended, options)
  options.guard?.watch(child.pid)
  try {
    await untilReady(options, ended)
  } catch (error) {
    await service.kill9()
    throw error
  }
  return service
}

function endOf(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null; error?: Error }> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, error }))
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
}

async function untilReady(options: ServiceOptions, ended: Promise<{ code: number | null }>): Promise<void> {
  let end: { code: number | null } | undefined
  void ended.then((value) => {
    end = value
  })
  const deadlineMs = performance.now() + options.readyTimeoutMs
  while (!(await options.ready())) {
    if (end) throw new Error(`${options.name} ended at its start (exit ${end.code}); ${options.logFile}:\n${lastLines(options.logFile)}`)
    if (performance.now() > deadlineMs) {
      throw new Error(
        `${options.name} was not ready after ${options.readyTimeoutMs} ms; ${options.logFile}:\n${lastLines(options.logFile)}`,
      )
    }
    await sleep(READY_POLL_MS)
  }
}

function handle(child: ChildProcess, pid: number, ended: Service['ended'], options: ServiceOptions): Service {
  const signalGroup = (signal: NodeJS.Signals) => {
    try {
      process.kill(-pid, signal)
    } catch {
      // The group is gone already.
    }
  }
  const kill9 = async () => {
    if (child.exitCode === null && child.signalCode === null) signalGroup('SIGKILL')
    await ended
    options.guard?.forget(pid)
  }
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill(options.stopSignal)
    const timer = new AbortController()
    const late = sleep(options.stopTimeoutMs, 'late' as const, { signal: timer.signal, ref: false }).catch(() => 'ended' as const)
    const outcome = await Promise.race([ended.then(() => 'ended' as const), late])
    timer.abort()
    if (outcome === 'late') await kill9()
    options.guard?.forget(pid)
  }
  return { pid, ended, stop, kill9 }
}
