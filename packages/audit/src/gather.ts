import { type LedgerReport, type PositionsSettings, TOPICS } from '@km0/contracts'
import type { Lake } from '@km0/lake'
import { balanceLedger, JournalTally, type LakeCounts, LogTally, resultKindOf } from '@km0/ledger'
import { createPositionsHost } from '@km0/pipelines'
import type { LedgerStore, Serving } from '@km0/serving'
import type { Log } from '@km0/transport'
import { JournalFiles } from './journal-files.ts'
import { lakeProgress, lakeRows } from './lake-rows.ts'
import {
  type ReadHooks,
  readDeadLetters,
  readLate,
  readPositions,
  readResults,
  type SpanBasis,
  type SpanPlaces,
  TAIL_MS,
  type TopicRange,
  WARM_UP_MS,
} from './read-span.ts'
import { NeedsWholeLog } from './warm-start.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

export interface LedgerSources {
  readonly log: Log
  readonly serving: Pick<Serving, 'readMarks' | 'nextOffsets'>
  readonly store: Pick<LedgerStore, 'countRows' | 'olderKeys'>
  /** The lake, or why there is none. */
  readonly lake: Lake | string
  /** Paths of publishers' journals. */
  readonly journals: readonly string[]
  /** Rules of the windowing job. Delay and allowed lateness are records of the log. */
  readonly rules: PositionsSettings
}

export interface LedgerQuery {
  /** Arrival times `[fromMs, toMs)`; `whole`: the whole log; `last-hour`: the hour that ends with the newest record. */
  readonly span: { readonly fromMs: number; readonly toMs: number } | 'whole' | 'last-hour'
  /** Nothing is on its way any more: what is not in the log is lost. */
  readonly drained?: boolean
  readonly signal?: AbortSignal
  /** Share of the records that have been read, 0 to 1. */
  readonly onProgress?: (share: number) => void
  readonly nowMs?: () => number
}

/** The log is empty. */
export class NothingToCountError extends Error {
  override readonly name = 'NothingToCountError'
}

/**
 * Reads journals, log, lake and store, and returns the ledger of a span. Memory grows with the messages of the span (some 60 bytes each), not
 * with the log. Rejects with the errors of the log and the store when they are away, with the signal's reason when it aborts.
 */
export async function gatherLedger(sources: LedgerSources, query: LedgerQuery): Promise<LedgerReport> {
  const journals: JournalFiles[] = []
  try {
    // What has come so far is asked first: behind these places everything is found, or missing.
    const marks = await sources.serving.readMarks()
    const stored = await sources.serving.nextOffsets(TOPICS.panel.name)
    const lake = typeof sources.lake === 'string' ? null : await lakeProgress(sources.lake)
    for (const path of sources.journals) journals.push(await JournalFiles.open(path))
    const places = await placesOf(sources.log, query.span)
    const epoch = Math.max(0, ...[...marks.values()].map((mark) => mark.epoch))
    const windowing = new Map([...marks.values()].filter((mark) => mark.epoch === epoch).map((mark) => [mark.partition, mark.nextOffset]))
    const run = new Gathering(sources, query, places, { windowing, lake, stored, epoch }, journals)
    return await run.report()
  } finally {
    for (const journal of journals) await journal.close()
  }
}

interface Standing {
  readonly windowing: ReadonlyMap<number, number>
  readonly lake: Awaited<ReturnType<typeof lakeProgress>>
  readonly stored: ReadonlyMap<number, number>
  readonly epoch: number
}

class Gathering {
  readonly #sources: LedgerSources
  readonly #query: LedgerQuery
  readonly #places: SpanPlaces
  readonly #standing: Standing
  readonly #journals: readonly JournalFiles[]
  #read = 0
  #toRead = 1

  constructor(sources: LedgerSources, query: LedgerQuery, places: SpanPlaces, standing: Standing, journals: readonly JournalFiles[]) {
    this.#sources = sources
    this.#query = query
    this.#places = places
    this.#standing = standing
    this.#journals = journals
  }

  async report(): Promise<LedgerReport> {
    const { log } = this.#sources
    const places = this.#places
    const { span, fromMs, toMs } = places
    const [letters, late, panel] = await Promise.all([
      this.#rangeOf(TOPICS.deadLetters.name, null),
      this.#rangeOf(TOPICS.late.name, null),
      // A revision may replace a row up to the allowed lateness later: an hour at most.
      this.#rangeOf(TOPICS.panel.name, toMs + HOUR_MS),
    ])
    this.#toRead = [places, letters, late, panel].reduce((sum, range) => sum + sizeOf(range), 0)
    const journalFromMs = await this.#journalFromMs()
    const { tally, basis, exact } = await this.#tallyPositions(journalFromMs)
    await Promise.all([
      readDeadLetters(log, places, tally, letters, this.#hooks),
      readLate(log, places, tally, late, this.#hooks),
      readResults(log, places, tally, panel, this.#standing.stored, this.#hooks),
    ])
    const journal = await this.#tallyJournals(tally, journalFromMs)
    const rows = await this.#storedRows(tally, Math.min(basis.replayedFromMs, fromMs) - DAY_MS)
    const firstMs = Math.max(fromMs, basis.replayedFromMs)
    const logIsCut = [...span].some(([partition, { from }]) => from > 0 && from === places.logStart.get(partition))
    return balanceLedger({
      madeAtMs: (this.#query.nowMs ?? Date.now)(),
      span: { fromMs: this.#query.span === 'whole' ? firstMs : fromMs, toMs },
      basis: { replayedFromMs: Number.isFinite(basis.replayedFromMs) ? basis.replayedFromMs : fromMs, records: basis.records, exact },
      log: tally.counts(),
      logIsCut,
      journal,
      bridge: tally.bridge.counts(),
      deadLetters: { ...tally.deadLetters.counts(), isCut: letters.isCut },
      late: { ...tally.late.counts(), isCut: late.isCut },
      results: tally.results.counts(),
      resultsAreCut: panel.isCut,
      lake: await this.#lakeCounts(firstMs),
      stored: {
        rows: rows.byKind,
        newerSignals: rows.newerSignals,
        isCut: rows.oldestDayMs !== null && rows.oldestDayMs > firstMs,
      },
    })
  }

  async #storedRows(tally: LogTally, windowsFromMs: number) {
    const { store } = this.#sources
    const partitions = [...this.#places.span].map(([partition, { from, until }]) => ({ partition, from, until }))
    const span = { epoch: this.#standing.epoch, partitions, windowsFromMs }
    const { distancia, sessio, senyal, newerSignals, oldestDayMs } = await store.countRows(span)
    const byKind = { distancia, sessio, senyal }
    for (const key of await store.olderKeys(span)) {
      const kind = resultKindOf(key)
      if (kind !== null && tally.results.isExpected(key)) byKind[kind] += 1
    }
    return { byKind, newerSignals, oldestDayMs }
  }

  get #hooks(): ReadHooks {
    const { signal, onProgress } = this.#query
    return {
      epoch: this.#standing.epoch,
      signal,
      onRecords: (count) => {
        this.#read += count
        onProgress?.(Math.min(1, this.#read / Math.max(1, this.#toRead)))
      },
    }
  }

  /** From the middle of the log where that tells the state, else from its start. */
  async #tallyPositions(journalFromMs: number): Promise<{ tally: LogTally; basis: SpanBasis; exact: boolean }> {
    const attempt = async (places: SpanPlaces) => {
      const host = createPositionsHost({ ...this.#sources.rules, livePoints: false })
      const progress = { windowing: this.#standing.windowing, lake: this.#standing.lake?.next ?? null }
      const tally = new LogTally(host, places.span, progress, journalFromMs)
      return { tally, basis: await readPositions(this.#sources.log, places, tally, host, this.#hooks) }
    }
    try {
      return { ...(await attempt(this.#places)), exact: this.#startsAtLogStart(this.#places) !== 'cut' }
    } catch (error) {
      if (!(error instanceof NeedsWholeLog)) throw error
      const places = { ...this.#places, readFrom: this.#places.logStart }
      this.#toRead += sizeOf(places)
      return { ...(await attempt(places)), exact: this.#startsAtLogStart(places) !== 'cut' }
    }
  }

  /** `cut`: it is read from the log's start, and that is not where it began. */
  #startsAtLogStart({ readFrom, logStart }: SpanPlaces): 'cut' | 'whole' | 'middle' {
    const kinds = [...readFrom].map(([partition, from]) => (from > (logStart.get(partition) ?? 0) ? 'middle' : from > 0 ? 'cut' : 'whole'))
    return kinds.includes('cut') ? 'cut' : kinds.includes('middle') ? 'middle' : 'whole'
  }

  async #journalFromMs(): Promise<number> {
    const firsts = await Promise.all(this.#journals.map((journal) => journal.wholeFromMs()))
    const known = firsts.filter((ms) => ms !== null)
    // With several publishers: from where all of them tell something.
    return known.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...known)
  }

  async #tallyJournals(tally: LogTally, journalFromMs: number) {
    if (this.#journals.length === 0 || journalFromMs === Number.POSITIVE_INFINITY) return null
    const { fromMs } = this.#places
    // A span up to the newest record holds what was published after that too: it is on its way, or lost.
    const toMs = typeof this.#query.span === 'object' ? this.#places.toMs : Number.POSITIVE_INFINITY
    const journal = new JournalTally(tally.messages, this.#query.drained === true)
    for (const file of this.#journals) {
      for await (const entry of file.lines()) {
        if (entry.arrivalMs < fromMs - WARM_UP_MS) continue
        journal.line(entry, entry.arrivalMs >= Math.max(fromMs, journalFromMs) && entry.arrivalMs < toMs)
      }
      this.#query.signal?.throwIfAborted()
      journal.endOfJournal()
    }
    return { ...journal.counts(), losses: journal.losses(), isCut: journalFromMs > fromMs && tally.counts().beforeJournal > 0 }
  }

  async #lakeCounts(firstMs: number): Promise<LakeCounts | string> {
    const { lake } = this.#sources
    if (typeof lake === 'string') return lake
    if (this.#standing.lake === null) return 'the lake holds no positions yet'
    return lakeRows(lake, this.#standing.lake, this.#places.span, firstMs)
  }

  /** What a topic may hold of the span: its records have the time of the one that caused them. */
  async #rangeOf(topic: string, untilMs: number | null): Promise<TopicRange & { readonly isCut: boolean }> {
    const { log } = this.#sources
    const from = await log.offsetsAt(topic, this.#places.fromMs)
    const starts = await log.startOffsets(topic)
    const ends = await log.endOffsets(topic)
    const until = untilMs === null ? ends : earliest(await log.offsetsAt(topic, untilMs), ends)
    const isCut = [...starts].some(([partition, start]) => start > 0 && (from.get(partition) ?? 0) <= start)
    return { from, until, isCut }
  }
}

const sizeOf = (range: TopicRange | SpanPlaces) => {
  const [from, until] = 'readFrom' in range ? [range.readFrom, range.readUntil] : [range.from, range.until]
  return [...until].reduce((sum, [partition, end]) => sum + Math.max(0, end - (from.get(partition) ?? 0)), 0)
}

function earliest(a: ReadonlyMap<number, number>, b: ReadonlyMap<number, number>): Map<number, number> {
  return new Map([...b].map(([partition, offset]) => [partition, Math.min(offset, a.get(partition) ?? offset)]))
}

/** The span as stretches of the log. Everything before its end is there by now. */
async function placesOf(log: Log, asked: LedgerQuery['span']): Promise<SpanPlaces> {
  const topic = TOPICS.positions.name
  const logStart = await log.startOffsets(topic)
  const ends = await log.endOffsets(topic)
  const { fromMs, toMs } = typeof asked === 'object' ? asked : await spanUntilNewest(log, asked, logStart, ends)
  const at = async (ms: number) => earliest(await log.offsetsAt(topic, ms), ends)
  const [warm, first, last, tail] = [await at(fromMs - WARM_UP_MS), await at(fromMs), await at(toMs), await at(toMs + TAIL_MS)]
  const span = new Map([...ends].map(([partition]) => [partition, { from: first.get(partition) ?? 0, until: last.get(partition) ?? 0 }]))
  return { fromMs, toMs, span, readFrom: asked === 'whole' ? logStart : warm, readUntil: tail, logStart }
}

/** Rejects with NothingToCountError when the log holds nothing. */
async function spanUntilNewest(
  log: Log,
  asked: 'whole' | 'last-hour',
  logStart: ReadonlyMap<number, number>,
  ends: ReadonlyMap<number, number>,
): Promise<{ fromMs: number; toMs: number }> {
  const held = [...ends].filter(([partition, end]) => end > (logStart.get(partition) ?? 0))
  if (held.length === 0) throw new NothingToCountError('the log holds no record yet')
  let newestMs = 0
  const from = new Map([...ends].map(([partition, end]) => [partition, Math.max(0, end - 1)]))
  for await (const { records } of log.readTopic({ topic: TOPICS.positions.name, from, until: ends })) {
    for (const { timestampMs } of records) newestMs = Math.max(newestMs, timestampMs)
  }
  return { fromMs: asked === 'whole' ? 0 : newestMs + 1 - HOUR_MS, toMs: newestMs + 1 }
}
