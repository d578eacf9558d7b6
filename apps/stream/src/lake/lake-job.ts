import {
  type AcceptanceSettings,
  type EpochOf,
  type HoleStatus,
  type LakeBatch,
  type LakeTable,
  LakeUnavailableError,
  type LakeWriter,
  POSITIONS,
  placeOf,
  STOCK_EVENTS,
  seamOf,
  tableOf,
} from '@km0/lake'
import type { PartHealth } from '@km0/runtime'
import { type Log, LogUnavailableError, type PartitionSlice, withHeartbeats } from '@km0/transport'
import type { StreamProgram } from '../role.ts'
import type { LakeRoleSettings } from './environment.ts'
import type { LakeMetrics } from './metrics.ts'
import { PendingRows } from './pending.ts'

/** Topics that others write, where every offset is a record. */
const SOURCES: readonly LakeTable[] = [POSITIONS, STOCK_EVENTS]
/** Gaps up to here are not looked into in result topics: a transaction leaves one at its end. */
const NATURAL_GAP_RECORDS = 100

/** The first append of a generation comes sooner than KM0_LAKE_BATCH_MS. */
const FIRST_BATCH_MS = 1_000

const RETRY_MS = { first: 200, most: 5_000 }

export interface LakeJobParts {
  readonly program: StreamProgram
  readonly log: Log
  readonly writer: LakeWriter
  readonly metrics: LakeMetrics
  readonly settings: LakeRoleSettings
  readonly epochOf: EpochOf
  readonly acceptance: (table: LakeTable) => AcceptanceSettings
  readonly knownHoles: readonly HoleStatus[]
}

/**
 * Takes what the group gives it and stores it in batches, by size or age. Where to go on is in the lake, never in the group's offsets.
 * One append at a time; while it is repeated because the lake is away, up to KM0_LAKE_BATCH_ROWS more wait in memory, then the log does.
 */
export class LakeJob {
  readonly #parts: LakeJobParts
  readonly #pending: PendingRows
  /** Offset that follows what was read, stored or not. */
  readonly #next = new Map<string, number>()
  readonly #ends = new Map<string, { readonly topic: string; readonly partition: number; endOffset: number }>()
  readonly #holes: HoleStatus[]
  #oldestMs: number | null = null
  #appending: Promise<void> | null = null
  /** Where lake and log stand, looked at once for all partitions that a generation of the group begins with. */
  #lookout: Promise<Lookout> | null = null
  /** Nothing was stored in this generation yet. */
  #isFirst = true
  #generation = 0
  #stopping = false
  #trouble: string | null = null

  constructor(parts: LakeJobParts) {
    this.#parts = parts
    this.#pending = new PendingRows(parts.epochOf, parts.acceptance)
    this.#holes = [...parts.knownHoles]
  }

  lakeHealth(): PartHealth {
    return this.#trouble === null ? { status: 'ok' } : { status: 'down', detail: this.#trouble }
  }

  /** Holes are a fault that somebody must look at, for a time. */
  holeHealth(nowMs: number): PartHealth {
    const recent = this.#holes.filter((hole) => hole.fromOffset > 0 && nowMs - hole.foundMs < this.#parts.settings.KM0_LAKE_HOLE_ALARM_MS)
    const [first] = recent
    if (first === undefined) return { status: 'ok' }
    const missing = recent.reduce((sum, hole) => sum + hole.toOffset - hole.fromOffset, 0)
    return {
      status: 'degraded',
      detail: `${missing} records were deleted by Kafka's retention before the lake had them, first in ${first.table} partition ${first.partition} from offset ${first.fromOffset}`,
    }
  }

  /** Takes a partition over. Returns the offset at which the lake stands, or the log's start when there is a hole between them. */
  async start(topic: string, partition: number, firstOffset: number): Promise<number> {
    const table = tableFor(topic)
    const { program } = this.#parts
    const { lakeNext, logStart, logEnd } = await this.#standing(table, partition, firstOffset)
    const { state } = seamOf(table, partition, lakeNext, logStart, logEnd)
    if (state === 'ahead') {
      throw new Error(
        `the lake holds ${topic} partition ${partition} up to offset ${lakeNext}, but the log ends at ${logEnd}: it is another log. ` +
          'If it was replaced on purpose, raise the epoch (`pnpm km0 epoch raise`); otherwise point KAFKA_BROKERS at the right broker.',
      )
    }
    const offset = Math.max(lakeNext, logStart)
    if (state === 'open') await this.#hole(table, partition, lakeNext, logStart)
    program.log.info({ topic, partition, offset, logStart, logEnd }, 'the lake goes on here')
    this.#next.set(`${topic}/${partition}`, offset)
    return offset
  }

  /**
   * Of the partitions that a generation begins with, from one look: one after the other they took half a minute. Only this process moves
   * the lake's offset of a partition that it has. What the lake did not know, or is asked for again, is looked at alone.
   */
  async #standing(table: LakeTable, partition: number, firstOffset: number) {
    const { log, writer } = this.#parts
    const { topic } = table
    this.#lookout ??= this.#look()
    const looking = this.#lookout
    const { lake, logs } = await looking.catch((error: unknown) => {
      if (this.#lookout === looking) this.#lookout = null
      throw error
    })
    const known = lake.get(placeOf(table, partition))
    lake.delete(placeOf(table, partition))
    const lakeNext = known ?? (await this.#untilReached(() => writer.nextOffset(table, partition)))
    // The log after the lake: it ends behind what the lake holds of it.
    const bounds = known === undefined ? boundsOf(log, topic) : (logs.get(topic) ?? boundsOf(log, topic))
    if (known !== undefined) logs.set(topic, bounds)
    const { starts, ends } = await bounds
    return { lakeNext, logStart: starts.get(partition) ?? firstOffset, logEnd: ends.get(partition) ?? firstOffset }
  }

  async #look(): Promise<Lookout> {
    return { lake: new Map(await this.#untilReached(() => this.#parts.writer.nextOffsets())), logs: new Map() }
  }

  async #hole(table: LakeTable, partition: number, fromOffset: number, toOffset: number): Promise<void> {
    const { program, writer, epochOf, metrics } = this.#parts
    const foundMs = Date.now()
    await this.#untilReached(() => writer.skip({ table, partition, fromOffset, toOffset, foundMs }))
    this.#holes.push({ table: table.name, epoch: epochOf(table), partition, fromOffset, toOffset, foundMs })
    const records = toOffset - fromOffset
    metrics.holes.inc({ topic: table.topic }, records)
    if (fromOffset === 0) program.log.warn({ table: table.name, partition, toOffset }, 'the lake begins after the start of the log')
    else
      program.log.error(
        { table: table.name, partition, fromOffset, toOffset, records },
        'retention has deleted records before the lake had them',
      )
  }

  async apply(slice: PartitionSlice): Promise<boolean> {
    const { topic, partition, records, nextOffset, endOffset } = slice
    const key = `${topic}/${partition}`
    if (!this.#next.has(key)) return false
    await this.#pastHole(slice, key)
    const fromOffset = this.#next.get(key)
    if (fromOffset === undefined) return false
    this.#pending.add(tableFor(topic), partition, fromOffset, nextOffset, records)
    this.#next.set(key, nextOffset)
    this.#ends.set(key, { topic, partition, endOffset })
    this.#oldestMs ??= performance.now()
    while (this.#isFull() && !slice.isStale()) await withHeartbeats(slice, this.store())
    return true
  }

  /**
   * Retention may overtake a lake that is slow: records that it had not read yet are gone. Transactions leave gaps of their own in the offsets
   * of result topics; what is missing there was never a record, and the log still begins before it.
   */
  async #pastHole(slice: PartitionSlice, key: string): Promise<void> {
    const { topic, partition, records } = slice
    const [expected, found] = [this.#next.get(key), records[0]?.offset]
    if (expected === undefined || found === undefined || found <= expected) return
    const table = tableFor(topic)
    if (found - expected <= NATURAL_GAP_RECORDS && !SOURCES.includes(table)) return
    const { log } = this.#parts
    const logStart = (await this.#untilReached(() => log.startOffsets(topic))).get(partition) ?? 0
    if (logStart <= expected) return
    // What was read before the hole is stored first: the lake stands at the hole when it is written down.
    for (let round = 0; round < 2 && !this.#pending.isEmpty; round += 1) await withHeartbeats(slice, this.store())
    if (this.#next.get(key) !== expected) return
    await withHeartbeats(slice, this.#hole(table, partition, expected, Math.min(found, logStart)))
    this.#next.set(key, Math.min(found, logStart))
  }

  #isFull(): boolean {
    const { KM0_LAKE_BATCH_ROWS: limit } = this.#parts.settings
    return this.#pending.rowCount >= limit || this.#pending.recordCount >= limit * 5
  }

  /** Stores what is old enough. Called by a timer. */
  storeDue(): void {
    if (this.#oldestMs === null || this.#appending !== null) return
    const { KM0_LAKE_BATCH_MS: batchMs } = this.#parts.settings
    // What waited in the log while nobody had its partitions is old enough.
    if (performance.now() - this.#oldestMs < (this.#isFirst ? Math.min(FIRST_BATCH_MS, batchMs) : batchMs)) return
    this.store().catch((error) => this.#parts.program.shutdown.fail(error))
  }

  /** Waits for the append in work, or begins one and waits for it. */
  store(): Promise<void> {
    this.#appending ??= this.#append().finally(() => {
      this.#appending = null
    })
    return this.#appending
  }

  async #append(): Promise<void> {
    const generation = this.#generation
    const batches = this.#pending.take()
    this.#oldestMs = null
    if (batches.length === 0) return
    let delayMs = RETRY_MS.first
    while (generation === this.#generation) {
      try {
        const done = this.#parts.metrics.appendSeconds.startTimer()
        await this.#parts.writer.append(batches)
        done()
        this.#isFirst = false
        this.#trouble = null
        this.#observe(batches)
        return
      } catch (error) {
        // The partitions were given to somebody else meanwhile, who was quicker: what is lost here is theirs to store.
        if (generation !== this.#generation) return
        if (!(error instanceof LakeUnavailableError) || this.#stopping) throw error
        this.#troubled(error)
        await sleep(delayMs)
        delayMs = Math.min(delayMs * 2, RETRY_MS.most)
      }
    }
  }

  #observe(batches: readonly LakeBatch[]): void {
    const { metrics } = this.#parts
    for (const { table, partition, rows, nextOffset } of batches) {
      metrics.rows.inc({ table: table.name }, rows.length)
      const end = this.#ends.get(`${table.topic}/${partition}`)
      if (end !== undefined) metrics.lagRecords.set({ topic: table.topic, partition }, Math.max(0, end.endOffset - nextOffset))
    }
  }

  #troubled(error: Error): void {
    if (this.#trouble === null) this.#parts.program.log.warn({ err: error }, 'the lake is away; records wait in Kafka')
    this.#trouble = error.message
    this.#parts.metrics.retries.inc()
  }

  async #untilReached<T>(call: () => Promise<T>): Promise<T> {
    let delayMs = RETRY_MS.first
    for (;;) {
      try {
        const value = await call()
        this.#trouble = null
        return value
      } catch (error) {
        if (!(error instanceof LakeUnavailableError || error instanceof LogUnavailableError) || this.#stopping) throw error
        this.#troubled(error)
        await sleep(delayMs)
        delayMs = Math.min(delayMs * 2, RETRY_MS.most)
      }
    }
  }

  /** All partitions are gone. What was not stored is read again by whoever has them next. */
  drop(): void {
    this.#generation += 1
    this.#lookout = null
    this.#isFirst = true
    this.#pending.clear()
    this.#next.clear()
    this.#ends.clear()
    this.#oldestMs = null
  }

  /** Stores what is left, once. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#appending?.catch(() => undefined)
    await this.store()
  }
}

interface Bounds {
  readonly starts: ReadonlyMap<number, number>
  readonly ends: ReadonlyMap<number, number>
}

interface Lookout {
  /** Of each partition that was not asked for yet. */
  readonly lake: Map<string, number>
  /** By topic, asked for at its first partition. */
  readonly logs: Map<string, Promise<Bounds>>
}

async function boundsOf(log: Log, topic: string): Promise<Bounds> {
  return { starts: await log.startOffsets(topic), ends: await log.endOffsets(topic) }
}

function tableFor(topic: string): LakeTable {
  const table = tableOf(topic)
  if (table === null) throw new Error(`the lake has no table for ${topic}`)
  return table
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
