import { type AcceptanceSettings, type EpochOf, type LakeBatch, type LakeRow, type LakeTable, type RowMaker, rowMaker } from '@km0/lake'
import type { LogRecord } from '@km0/transport'

interface Growing {
  readonly table: LakeTable
  readonly partition: number
  readonly fromOffset: number
  readonly rows: LakeRow[]
  nextOffset: number
  newestArrivalMs: number | null
  newestEventMs: number | null
}

/** What was read and is not stored yet, by partition. */
export class PendingRows {
  readonly #epochOf: EpochOf
  readonly #acceptance: (table: LakeTable) => AcceptanceSettings
  readonly #makers = new Map<LakeTable, RowMaker>()
  #batches = new Map<string, Growing>()
  #rowCount = 0
  #recordCount = 0

  constructor(epochOf: EpochOf, acceptance: (table: LakeTable) => AcceptanceSettings) {
    this.#epochOf = epochOf
    this.#acceptance = acceptance
  }

  get rowCount(): number {
    return this.#rowCount
  }

  get isEmpty(): boolean {
    return this.#batches.size === 0
  }

  /** Records that count against the limit: those that are not kept take no memory, but move the offset. */
  get recordCount(): number {
    return this.#recordCount
  }

  add(table: LakeTable, partition: number, fromOffset: number, nextOffset: number, records: readonly LogRecord[]): void {
    const key = `${table.name}/${partition}`
    let batch = this.#batches.get(key)
    if (batch === undefined) {
      batch = { table, partition, fromOffset, nextOffset: fromOffset, rows: [], newestArrivalMs: null, newestEventMs: null }
      this.#batches.set(key, batch)
    }
    if (batch.nextOffset !== fromOffset) throw new Error(`${key} goes on at ${fromOffset}, after ${batch.nextOffset}: records are missing`)
    const maker = this.#makerOf(table)
    const eventColumn = table.columns.findIndex(({ name }) => name === 'event_ms')
    for (const record of records) {
      batch.newestArrivalMs = Math.max(batch.newestArrivalMs ?? record.timestampMs, record.timestampMs)
      const row = maker.row(record)
      if (row === null) continue
      batch.rows.push(row)
      this.#rowCount += 1
      const eventMs = row[eventColumn]
      if (typeof eventMs === 'number') batch.newestEventMs = Math.max(batch.newestEventMs ?? eventMs, eventMs)
    }
    batch.nextOffset = nextOffset
    this.#recordCount += records.length
  }

  #makerOf(table: LakeTable): RowMaker {
    let maker = this.#makers.get(table)
    if (maker === undefined) {
      maker = rowMaker(table, this.#epochOf(table), this.#acceptance(table))
      this.#makers.set(table, maker)
    }
    return maker
  }

  /** Takes everything out. */
  take(): readonly LakeBatch[] {
    const taken = [...this.#batches.values()].filter((batch) => batch.nextOffset !== batch.fromOffset)
    this.clear()
    return taken
  }

  clear(): void {
    this.#batches = new Map()
    this.#rowCount = 0
    this.#recordCount = 0
  }
}
