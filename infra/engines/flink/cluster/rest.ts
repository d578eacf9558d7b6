import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const CALL_TIMEOUT_MS = 60_000
const POLL_MS = 100

export interface RunOptions {
  readonly jar: string
  readonly mainClass: string
  readonly parallelism: number
  /** name=value each. */
  readonly words: readonly string[]
  /** Path of a savepoint or retained checkpoint to go on from. */
  readonly from?: string
}

/** What went wrong and why, without the stacks in between: of a job's main the last cause is what its user must know. */
const causesOf = (answer: string) => answer.replaceAll(/\\n\\t(at|\.\.\.) [^\\"]*/g, '').slice(0, 4_000)

/** Flink's REST interface, as far as running a job needs it. Calls throw with what Flink answered. */
export class FlinkRest {
  readonly url: string

  constructor(url: string) {
    this.url = url
  }

  private async call(path: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.url}${path}`, { ...init, signal: AbortSignal.timeout(CALL_TIMEOUT_MS) })
    const text = await response.text()
    if (!response.ok) throw new Error(`Flink answered ${response.status} to ${path}: ${causesOf(text)}`)
    return JSON.parse(text) as Record<string, unknown>
  }

  private post(path: string, body: unknown): Promise<Record<string, unknown>> {
    return this.call(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  }

  async isUp(): Promise<boolean> {
    return this.call('/overview').then(
      () => true,
      () => false,
    )
  }

  async taskManagers(): Promise<{ id: string; freeSlots: number }[]> {
    const { taskmanagers } = (await this.call('/taskmanagers')) as { taskmanagers: { id: string; freeSlots: number }[] }
    return taskmanagers
  }

  /** Uploads the jar and starts a job. Resolves to the job's id. */
  async run({ jar, mainClass, parallelism, words, from }: RunOptions): Promise<string> {
    const form = new FormData()
    form.append('jarfile', new Blob([readFileSync(jar)], { type: 'application/java-archive' }), basename(jar))
    const { filename } = await this.call('/jars/upload', { method: 'POST', body: form })
    const body = { entryClass: mainClass, parallelism, programArgsList: words, ...(from === undefined ? {} : { savepointPath: from }) }
    const { jobid } = await this.post(`/jars/${basename(String(filename))}/run`, body)
    return String(jobid)
  }

  /** RUNNING, RESTARTING, FINISHED, FAILED, … */
  async jobState(job: string): Promise<string> {
    return String((await this.call(`/jobs/${job}`)).state)
  }

  /** Newest complete checkpoint: how many there were, and its path. */
  async checkpoints(job: string): Promise<{ completed: number; path: string | null }> {
    const { counts, latest } = (await this.call(`/jobs/${job}/checkpoints`)) as {
      counts: { completed: number }
      latest: { completed: { external_path: string } | null }
    }
    return { completed: counts.completed, path: latest.completed?.external_path ?? null }
  }

  /** Stops the job with a savepoint, windows left open (never `drain`, which closes them). Resolves to its path. */
  async stopWithSavepoint(job: string): Promise<string> {
    const { 'request-id': trigger } = await this.post(`/jobs/${job}/stop`, { drain: false })
    for (;;) {
      const { status, operation } = (await this.call(`/jobs/${job}/savepoints/${trigger}`)) as {
        status: { id: string }
        operation?: { location?: string; 'failure-cause'?: { 'stack-trace': string } }
      }
      if (status.id === 'COMPLETED') {
        if (operation?.location !== undefined) return operation.location
        throw new Error(`no savepoint: ${operation?.['failure-cause']?.['stack-trace'].slice(0, 4_000)}`)
      }
      await sleep(POLL_MS)
    }
  }

  /**
   * Ends the job so that it can go on elsewhere: with a savepoint, or, where Flink cannot make one, by cancelling it, from its newest checkpoint.
   * Flink 2.3 ends a source without waiting for its own part of the savepoint; under back pressure one subtask is asked after its end and another
   * before, which operators with union-list state do not allow. Nothing is committed between the newest checkpoint and a cancel, so either will do.
   */
  async suspend(job: string): Promise<{ path: string; kind: 'savepoint' | 'checkpoint' }> {
    try {
      return { path: await this.stopWithSavepoint(job), kind: 'savepoint' }
    } catch (error) {
      if (!String(error).includes('PartialFinishingNotSupportedByState')) throw error
    }
    await this.cancel(job)
    while ((await this.jobState(job)) !== 'CANCELED') await sleep(POLL_MS)
    const { path } = await this.checkpoints(job)
    if (path === null) throw new Error(`job ${job} has no checkpoint to go on from`)
    return { path, kind: 'checkpoint' }
  }

  async cancel(job: string): Promise<void> {
    const response = await fetch(`${this.url}/jobs/${job}?mode=cancel`, { method: 'PATCH', signal: AbortSignal.timeout(CALL_TIMEOUT_MS) })
    if (!response.ok && response.status !== 404) throw new Error(`Flink answered ${response.status} to the end of job ${job}`)
  }
}
