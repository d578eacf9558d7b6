import { TOPICS } from '@km0/contracts'
import { type Log, LogFencedError, LogUnavailableError, type PartitionSlice, withHeartbeats } from '@km0/transport'
import type { StreamProgram } from '../role.ts'
import { type ShuffleMetrics, shuffleMetrics } from './shuffle-metrics.ts'
import { SourceTask, type SourceTaskOptions } from './source-task.ts'

/** With the ticks of the role, the watermark of a source reaches every target at least once a second while events flow. */
const MARK_EVERY_MS = 700
/** How often the ends of the source partitions are asked for while one of them is quiet. */
const ENDS_EVERY_MS = 1_000
/** After trouble with the log. */
const RETRY_MS = 1_000

export interface ShuffleJobOptions {
  readonly program: StreamProgram
  readonly log: Log
  readonly epoch: number
  readonly targets: number
}

/** All source partitions of this process. A task that meets an error is given up and taken over anew from what is committed. */
export class ShuffleJob {
  readonly #options: ShuffleJobOptions
  readonly #metrics: ShuffleMetrics
  readonly #tasks = new Map<number, Promise<SourceTask>>()
  #ticking = false
  #endsDueAtMs = 0
  #retryAtMs = 0
  #trouble: string | null = null
  #stopped = false

  constructor(options: ShuffleJobOptions) {
    this.#options = options
    this.#metrics = shuffleMetrics(options.program.metrics)
    options.program.health.register('log', () => (this.#trouble === null ? { status: 'ok' } : { status: 'down', detail: this.#trouble }))
  }

  /** The offset at which a source partition goes on. */
  async start(partition: number): Promise<number> {
    for (;;) {
      try {
        return (await this.#task(partition)).nextOffset
      } catch (error) {
        this.#failed(partition, error)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
        if (this.#stopped) throw error
      }
    }
  }

  /** Applies a slice. False when its transaction failed: what is committed says how it went. */
  async apply(slice: PartitionSlice): Promise<boolean> {
    const { partition } = slice
    const known = this.#tasks.get(partition)
    if (known === undefined) return false
    try {
      const task = await known
      const done = this.#metrics.transactionSeconds.startTimer()
      const flags = await withHeartbeats(slice, task.apply(slice.records, slice.nextOffset, MARK_EVERY_MS))
      done()
      this.#metrics.count(flags)
      this.#metrics.lagRecords.set({ partition }, Math.max(0, slice.endOffset - slice.nextOffset))
      this.#observe(task)
      this.#trouble = null
      return true
    } catch (error) {
      if (error instanceof Error && error.name.startsWith('KafkaJS')) {
        // The group is rebalancing: kafkajs goes on with it.
        this.#forget(partition)
        throw error
      }
      this.#failed(partition, error)
      await slice.heartbeat()
      return false
    }
  }

  skipped(partition: number, nextOffset: number): void {
    this.#tasks.get(partition)?.then(
      (task) => task.skipTo(nextOffset),
      () => undefined,
    )
  }

  /** Takes over partitions that have no record to show, tells marks, and writes heartbeats of quiet partitions. Errors do not get out. */
  async tick(assigned: readonly number[]): Promise<void> {
    if (this.#ticking || this.#stopped || Date.now() < this.#retryAtMs) return
    this.#ticking = true
    try {
      await Promise.all(assigned.map((partition) => this.#guarded(partition, (task) => this.#tellMark(task))))
      await this.#tellHeartbeats(assigned)
    } catch (error) {
      this.#troubled(error)
    } finally {
      this.#ticking = false
    }
  }

  async #tellMark(task: SourceTask): Promise<void> {
    if (await task.mark(MARK_EVERY_MS)) this.#metrics.own.inc({ kind: 'mark' })
    this.#observe(task)
  }

  async #tellHeartbeats(assigned: readonly number[]): Promise<void> {
    const { program, log } = this.#options
    const idleMs = program.settings.KM0_STOCK_IDLE_MS
    const open = await Promise.all(assigned.flatMap((partition) => this.#tasks.get(partition) ?? []))
    const quiet = open.filter((task) => task.isQuiet(idleMs))
    if (quiet.length === 0 || Date.now() < this.#endsDueAtMs) return
    this.#endsDueAtMs = Date.now() + Math.min(ENDS_EVERY_MS, idleMs)
    const ends = await log.endOffsets(TOPICS.stockEvents.name)
    this.#metrics.sources.set(ends.size)
    for (const { partition } of open) {
      await this.#guarded(partition, async (task) => {
        if (await task.tellSettings(ends.size)) this.#metrics.own.inc({ kind: 'settings' })
        if (quiet.includes(task) && (await task.beat(ends.get(partition) ?? 0, idleMs))) this.#metrics.own.inc({ kind: 'heartbeat' })
      })
    }
    this.#trouble = null
  }

  async #guarded(partition: number, work: (task: SourceTask) => Promise<void>): Promise<void> {
    try {
      await work(await this.#task(partition))
    } catch (error) {
      this.#failed(partition, error)
    }
  }

  #task(partition: number): Promise<SourceTask> {
    let task = this.#tasks.get(partition)
    if (task === undefined) {
      task = SourceTask.open(this.#taskOptions(partition)).then((opened) => {
        const { nextOffset, watermarkMs, sources } = opened
        this.#options.program.log.info({ partition, nextOffset, watermarkMs, sources }, 'source partition taken over')
        this.#trouble = null
        this.#metrics.sources.set(sources)
        return opened
      })
      this.#tasks.set(partition, task)
    }
    return task
  }

  #taskOptions(partition: number): SourceTaskOptions {
    const { program, log, epoch, targets } = this.#options
    const { delayMs, allowedLatenessMs, maxFutureMs, maxAgeMs } = program.pipelines.stock
    return {
      log,
      partition,
      epoch,
      targets,
      settings: { delayMs, allowedLatenessMs },
      limits: { maxFutureMs, maxAgeMs },
      onHole: (records) => {
        this.#metrics.holes.inc({ partition }, records)
        program.log.error({ partition, records }, 'retention has deleted stock events before they were read: live alerts miss them')
      },
      onLostState: () => {
        this.#metrics.lostStates.inc()
        program.log.warn({ partition }, 'there is an offset but no state beside it: somebody else set it; watermarks begin anew')
      },
    }
  }

  #observe(task: SourceTask): void {
    const { partition, watermarkMs } = task
    if (Number.isFinite(watermarkMs)) this.#metrics.watermarkSeconds.set({ partition }, watermarkMs / 1000)
  }

  /** Gives the task up. Errors of the log are mended by taking over anew; any other one ends the program. */
  #failed(partition: number, error: unknown): void {
    this.#forget(partition)
    if (error instanceof LogFencedError) {
      // Another process has the partition now, or the broker gave a slow transaction up. The group tells which.
      this.#metrics.failures.inc({ cause: 'fenced' })
      this.#options.program.log.warn({ partition, err: error }, 'somebody else works on this source partition')
      this.#retryAtMs = Date.now() + RETRY_MS
      return
    }
    this.#troubled(error)
    this.#metrics.failures.inc({ cause: 'log' })
    if (!(error instanceof LogUnavailableError)) this.#options.program.shutdown.fail(error)
  }

  #troubled(error: unknown): void {
    this.#retryAtMs = Date.now() + RETRY_MS
    for (const task of this.#tasks.values()) task.then((opened) => opened.disturb()).catch(() => undefined)
    if (this.#trouble === null) this.#options.program.log.warn({ err: error }, 'the log does not answer; it is tried again')
    this.#trouble = error instanceof Error ? error.message : String(error)
  }

  #forget(partition: number): void {
    const task = this.#tasks.get(partition)
    this.#tasks.delete(partition)
    task?.then((opened) => opened.close()).catch(() => undefined)
  }

  /** All partitions are gone. */
  drop(): void {
    for (const partition of [...this.#tasks.keys()]) this.#forget(partition)
    this.#metrics.lagRecords.reset()
    this.#metrics.watermarkSeconds.reset()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    const tasks = [...this.#tasks.values()]
    this.#tasks.clear()
    await Promise.allSettled(tasks.map(async (task) => (await task).close()))
  }
}
