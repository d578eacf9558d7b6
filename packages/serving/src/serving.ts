import type { AcknowledgementView, DaysView, DayView, Depot, OutagesView, Period, RegisteredVan, Scope, TrailPoint } from '@km0/contracts'
import type { VanDayRows } from '@km0/contracts/van-day-panel'
import { acknowledge } from './acknowledge.ts'
import { forgetOldHours } from './backfill/prune.ts'
import { type Certificate, readCertificates, storeCertificate } from './certificates.ts'
import { DAY_MS, DAY_TABLES, DayPartitions } from './day-partitions.ts'
import { readDay, readDays, readMissingPoints } from './days/read-days.ts'
import { readVanDay } from './days/read-van-day.ts'
import type { RefusedResult } from './decode.ts'
import type { DirtyHour } from './dirty-hours.ts'
import { migrate } from './migrate.ts'
import { forgetForeignOffsets, readOffsets } from './offsets.ts'
import { Pool, type PoolOptions } from './pool.ts'
import { type DirtyPlan, type DirtyQuery, readDirtyHours, readDirtyPlan } from './read-dirty.ts'
import { readHour, type ServedRow } from './read-hour.ts'
import { readOutages } from './read-outages.ts'
import { type PanelReadOptions, readPanelSnapshot, readRegister, type StoredPanel } from './read-panel.ts'
import { type DelayQuantiles, readDelayQuantiles, readMarks, type StoredMark } from './read-progress.ts'
import { readAllResults, type StoredResult } from './read-results.ts'
import { readTrack, type TrackSpan } from './read-track.ts'
import { type ImportCounts, importDepots, importVans, type Numbered } from './register.ts'
import { applyLateBatch } from './write-late.ts'
import { applyLiveBatch, type LiveBatch } from './write-live.ts'
import { applyMarkBatch, type MarkBatch } from './write-marks.ts'
import { type AppliedPanel, applyPanelBatch, type PanelBatch } from './write-panel.ts'

/** How many days each kind of row is kept, counted from the end of its day. */
export interface Retention {
  readonly resultDays: number
  readonly trackDays: number
}

/** The store of results. Every method rejects with ServingUnavailableError while PostgreSQL is away. */
export class Serving {
  readonly #pool: Pool
  readonly #days: DayPartitions

  constructor(pool: Pool) {
    this.#pool = pool
    this.#days = new DayPartitions(pool)
  }

  /** Brings the schema to this version. Returns the numbers of the migrations applied. */
  migrate(): Promise<number[]> {
    return migrate(this.#pool)
  }

  async ping(): Promise<void> {
    await this.#pool.query('select 1')
  }

  applyPanelBatch(batch: PanelBatch): Promise<AppliedPanel> {
    return this.#days.retrying(() => applyPanelBatch(this.#pool, this.#days, batch))
  }

  applyLiveBatch(batch: LiveBatch): Promise<readonly RefusedResult[]> {
    return this.#days.retrying(() => applyLiveBatch(this.#pool, this.#days, batch))
  }

  /** Applies records of the late side output. */
  applyLateBatch(batch: LiveBatch): Promise<readonly RefusedResult[]> {
    return this.#days.retrying(() => applyLateBatch(this.#pool, this.#days, batch))
  }

  /** Hours whose rows are not what their points say, and why. */
  readDirtyHours(scope: Scope, query: DirtyQuery): Promise<DirtyHour[]> {
    return readDirtyHours(this.#pool, scope, query)
  }

  applyMarkBatch(batch: MarkBatch): Promise<readonly RefusedResult[]> {
    return applyMarkBatch(this.#pool, batch)
  }

  /** Next offset of each partition of a topic. */
  nextOffsets(topic: string): Promise<Map<number, number>> {
    return this.#pool.withClient((client) => readOffsets(client, topic))
  }

  forgetForeignOffsets(topic: string, clusterId: string, endOffsets: ReadonlyMap<number, number>): Promise<number> {
    return forgetForeignOffsets(this.#pool, topic, clusterId, endOffsets)
  }

  readPanelSnapshot(scope: Scope, options: PanelReadOptions): Promise<StoredPanel> {
    return readPanelSnapshot(this.#pool, scope, options)
  }

  readRegister(scope: Scope): Promise<Pick<StoredPanel, 'depots' | 'registered'>> {
    return readRegister(this.#pool, scope)
  }

  readTrack(scope: Scope, van: string, span: TrackSpan): Promise<TrailPoint[]> {
    return readTrack(this.#pool, scope, van, span)
  }

  readMarks(): Promise<Map<number, StoredMark>> {
    return readMarks(this.#pool)
  }

  readDelayQuantiles(fromMs: number): Promise<DelayQuantiles | null> {
    return readDelayQuantiles(this.#pool, fromMs)
  }

  /** Windows that end in an hour and sessions that begin in it, of all vans, by key. */
  readHour(hourMs: number): Promise<ServedRow[]> {
    return readHour(this.#pool, hourMs)
  }

  storeCertificate(certificate: Certificate): Promise<void> {
    return storeCertificate(this.#pool, certificate)
  }

  /** The newest certificate of each hour of a range, by hour. */
  readCertificates(range: { readonly fromMs: number; readonly toMs: number }): Promise<Certificate[]> {
    return readCertificates(this.#pool, range)
  }

  readDirtyPlan(scope: Scope, query: DirtyQuery): Promise<DirtyPlan> {
    return readDirtyPlan(this.#pool, scope, query)
  }

  /** Distances by day of Europe/Madrid as they are served, with what is missing in them. */
  readDays(scope: Scope, days: readonly Period[]): Promise<Omit<DaysView, 'nowMs'>> {
    return readDays(this.#pool, scope, days)
  }

  /** One van on one day, by hour; null when the scope may not see the van or nothing is known of it then. */
  readDay(scope: Scope, van: string, day: Period): Promise<Omit<DayView, 'nowMs'> | null> {
    return readDay(this.#pool, scope, van, day)
  }

  /** All that is stored of one van on one day; null when the scope may not see the van or nothing is known of it. */
  readVanDay(scope: Scope, van: string, day: Period): Promise<VanDayRows | null> {
    return readVanDay(this.#pool, scope, van, day)
  }

  /** Event times of a van's points of `[fromMs, toMs)` that are wholly missing in what is served, in order. */
  readMissingPoints(van: string, span: { readonly fromMs: number; readonly toMs: number }): Promise<number[]> {
    return readMissingPoints(this.#pool, van, span)
  }

  /** Outages of ours that touch a span, and how many silences of the scope's vans do and do not overlap one. */
  readOutages(scope: Scope, span: { readonly fromMs: number; readonly toMs: number }): Promise<OutagesView> {
    return readOutages(this.#pool, scope, span)
  }

  readAllResults(scope: Scope): AsyncGenerator<StoredResult> {
    return readAllResults(this.#pool, scope)
  }

  importVans(rows: readonly Numbered<RegisteredVan>[]): Promise<ImportCounts> {
    return importVans(this.#pool, rows)
  }

  importDepots(rows: readonly Numbered<Depot>[]): Promise<ImportCounts> {
    return importDepots(this.#pool, rows)
  }

  acknowledge(scope: Scope, view: AcknowledgementView): Promise<boolean> {
    return acknowledge(this.#pool, scope, view)
  }

  /** Drops the days that are older. Returns the names of the partitions dropped. */
  async dropOldDays(retention: Retention, nowMs: number): Promise<string[]> {
    const dropped: string[] = []
    for (const table of DAY_TABLES) {
      const days = table === 'track_point' || table === 'stock_history' ? retention.trackDays : retention.resultDays
      dropped.push(...(await this.#days.dropBefore(table, nowMs - days * DAY_MS)))
    }
    if (dropped.length > 0) await forgetOldHours(this.#pool, Math.floor(nowMs / DAY_MS - retention.resultDays) * DAY_MS, nowMs)
    return dropped
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

/** Opens the store. Connects at the first use. */
export function openServing(options: PoolOptions): Serving {
  return new Serving(new Pool(options))
}
