import {
  DEFAULT_STOCK_SETTINGS,
  decodeStockEvent,
  type Emission,
  type LiveStockValue,
  parseJsonObject,
  RECORD_FLAGS,
  type ShuffledHeaders,
  type StockAlertValue,
  type StockEvent,
  type StockHost,
  type StockSettings,
} from '@km0/contracts'
import { stockKey } from '../stock/low-stock.ts'
import { createStockHost } from '../stock/stock-host.ts'
import { thresholdOf } from '../stock/thresholds.ts'
import { EpisodeBook } from '../stock-episodes/episode-book.ts'
import { encodeWindowsSnapshot, readWindowsSnapshot } from './windows-snapshot.ts'

export type WindowsOutput = 'alertes' | 'tardans' | 'rebutjats' | 'viu' | 'episodis'

export interface WindowsEmission {
  readonly output: WindowsOutput
  readonly key: string | null
  readonly value: string
  /** Offset of the shuffled record that caused it. */
  readonly offset: number
}

/** What a pipeline of stock is, apart from delay and allowed lateness: those are records of its log. */
export type StockRules = Omit<StockSettings, 'delayMs' | 'allowedLatenessMs'>

/** Bits beside RECORD_FLAGS: what became of a shuffled record. */
export const SHUFFLED_FLAGS = {
  /** An event whose source offset was seen before: dropped. */
  seen: 1 << 16,
  /** Late while its window was still open by the minimum over the sources. */
  lateWhileOpen: 1 << 17,
} as const

/**
 * Windows, newest stock and episodes of one partition of the shuffle's topic: a pure function of its records in offset order. Each record
 * names its source partition; source offsets that were seen are dropped, an event's source clock is at least at the watermark attached to it,
 * and how many sources there are is what the shuffle's own records say.
 */
export class StockWindowsTask {
  private readonly rules: StockRules
  private readonly settings: StockSettings
  /** null before the first record that says how many sources there are. */
  private host: StockHost | null = null
  private sources = 0
  /** Newest source offset seen of each source partition. */
  private readonly seen = new Map<number, number>()
  private readonly episodes: EpisodeBook
  private newestArrivalMs: number | null = null
  private out: WindowsEmission[] = []

  constructor(rules: StockRules) {
    this.rules = rules
    // The first record of every source is one of settings, so these two are never in force for an event.
    const { delayMs, allowedLatenessMs } = DEFAULT_STOCK_SETTINGS
    this.settings = { ...rules, delayMs, allowedLatenessMs }
    this.episodes = new EpisodeBook((product, market) => thresholdOf(this.settings, product, market))
  }

  /**
   * Applies the record at `offset` of the shuffle's partition. Returns RECORD_FLAGS and SHUFFLED_FLAGS. Throws when an event comes before
   * anything has said how many source partitions there are, or from one that is not among them: the shuffle never writes that.
   */
  onRecord(offset: number, headers: ShuffledHeaders, text: string | null, byteLength: number, validUtf8: boolean): number {
    const { sourcePartition, sourceOffset, arrivalMs, number, sourcePartitions } = headers
    if (sourcePartitions !== null) this.growTo(sourcePartitions)
    const { host } = this
    if (host === null) throw new Error(`shuffled record ${offset} comes before the number of source partitions is known`)
    if (number === null) {
      if (sourceOffset <= (this.seen.get(sourcePartition) ?? -1)) return SHUFFLED_FLAGS.seen
      this.seen.set(sourcePartition, sourceOffset)
    }
    if (this.newestArrivalMs === null || arrivalMs > this.newestArrivalMs) this.newestArrivalMs = arrivalMs
    const lateBefore = host.lateWhileOpenCount()
    let flags = 0
    if (headers.watermarkMs !== null) flags |= host.raiseWatermark(sourcePartition, sourceOffset, headers.watermarkMs)
    // What the raise closes comes before the record; the host keeps the order.
    flags |= host.onRecord(sourcePartition, sourceOffset, arrivalMs, null, text, byteLength, validUtf8)
    if (host.lateWhileOpenCount() > lateBefore) flags |= SHUFFLED_FLAGS.lateWhileOpen
    if ((flags & (RECORD_FLAGS.accepted | RECORD_FLAGS.late)) !== 0) this.showNewest(offset, headers, text, byteLength, validUtf8)
    if ((flags & RECORD_FLAGS.emitted) !== 0) for (const emission of host.drain()) this.pass(emission, offset, arrivalMs)
    return flags
  }

  private growTo(count: number): void {
    if (count <= this.sources) return
    if (this.host === null) this.host = createStockHost(this.settings, count)
    else this.host.setSourcePartitions(count)
    this.sources = count
  }

  private showNewest(offset: number, headers: ShuffledHeaders, text: string | null, byteLength: number, validUtf8: boolean): void {
    const value = parseJsonObject(text, byteLength, validUtf8)
    const event = value === null ? null : decodeStockEvent(value)
    if (event === null) throw new Error(`shuffled record ${offset} was accepted, but is no event`)
    const { product, market, eventMs, stock } = event
    const reading = { eventMs, partition: headers.sourcePartition, offset: headers.sourceOffset, stock }
    const { newest, value: episode, key } = this.episodes.onStock(product, market, reading, headers.arrivalMs)
    if (newest) this.emit('viu', stockKey(product, market), this.liveValue(event, headers.arrivalMs), offset)
    if (episode !== null) this.emit('episodis', key, episode, offset)
  }

  private liveValue({ product, market, stock, eventMs }: StockEvent, arrivalMs: number): string {
    const value: LiveStockValue = {
      producte: product,
      mercat: market,
      estoc_actual: stock,
      data_ms: eventMs,
      arribada_ms: arrivalMs,
      llindar: thresholdOf(this.settings, product, market),
    }
    return JSON.stringify(value)
  }

  private pass({ output, key, value }: Emission, offset: number, arrivalMs: number): void {
    if (output === 'panell') throw new Error('the stock pipeline has nothing for the panel of positions')
    this.emit(output, key, value, offset)
    if (output !== 'alertes') return
    const alert = JSON.parse(value) as StockAlertValue
    const window = { startMs: alert.inici_ms, endMs: alert.fi_ms, minimum: alert.estoc_minim }
    const episode = this.episodes.onAlert(alert.producte, alert.mercat, window, arrivalMs)
    if (episode.value !== null) this.emit('episodis', episode.key, episode.value, offset)
  }

  private emit(output: WindowsOutput, key: string | null, value: string, offset: number): void {
    this.out.push({ output, key, value, offset })
  }

  /** Everything emitted since the last call, in order of emission. */
  drain(): readonly WindowsEmission[] {
    const taken = this.out
    if (taken.length > 0) this.out = []
    return taken
  }

  /** The whole state as JSON text: equal states give equal text. Taking it changes nothing. */
  snapshot(): string {
    const { rules, host, sources, seen, newestArrivalMs } = this
    return encodeWindowsSnapshot(rules, {
      sources,
      seen: [...seen].sort(([a], [b]) => a - b),
      newestArrivalMs,
      host: host === null ? null : (JSON.parse(host.snapshot()) as unknown),
      episodes: this.episodes.snapshot(),
    })
  }

  /** Replaces the state of a new task. Throws when the text is of another version of the pipeline, or of other rules. */
  restore(snapshot: string): void {
    const state = readWindowsSnapshot(snapshot, this.rules)
    this.growTo(state.sources)
    if (state.host !== null) this.host?.restore(JSON.stringify(state.host))
    for (const [partition, offset] of state.seen) this.seen.set(partition, offset)
    this.newestArrivalMs = state.newestArrivalMs
    this.episodes.restore(state.episodes)
    this.out = []
  }

  /** Source partitions that the log has told of. */
  get sourcePartitions(): number {
    return this.sources
  }

  /** Minimum over the sources, -Infinity before each has been heard. */
  get watermarkMs(): number {
    return this.host?.jobWatermarkMs() ?? Number.NEGATIVE_INFINITY
  }

  sourceWatermarkMs(partition: number): number {
    return this.host?.watermarkMs(partition) ?? Number.NEGATIVE_INFINITY
  }

  get arrivalMs(): number | null {
    return this.newestArrivalMs
  }

  /** Episodes that last. */
  get openEpisodes(): number {
    return this.episodes.openCount
  }
}
