import {
  LEDGER_CAUSES,
  LEDGER_STATIONS,
  type LedgerCause,
  type LedgerCertainty,
  type LedgerLine,
  type LedgerLoss,
  type LedgerPart,
  type LedgerReport,
  type LedgerStation,
  type LedgerStationName,
  type LedgerStep,
} from '@km0/contracts'
import type { BridgeCounts } from './bridge-tally.ts'
import type { JournalCounts } from './journal-tally.ts'
import type { JudgedCounts, LogCounts } from './log-tally.ts'
import { RESULT_KINDS, type ResultKind, type ResultsByKind } from './result-tally.ts'
import type { SideCounts } from './side-tally.ts'

/** What a topic says, and whether retention may have taken some of it. */
export type Kept<Counts> = Counts & { readonly isCut: boolean }

export interface LakeCounts {
  /** Rows of what it has come to in the span. */
  readonly rows: number
  /** Records that Kafka had deleted before the lake had them. */
  readonly holes: number
  /** Rows of the span may have been dropped. */
  readonly isCut: boolean
}

/** Rows in PostgreSQL with a source in the span, by kind. */
export interface StoredCounts {
  readonly rows: Readonly<Record<ResultKind, number>>
  /** Signal states that have changed again since. */
  readonly newerSignals: number
  readonly isCut: boolean
}

/** Everything that was counted, and nothing of where it was read. */
export interface LedgerCounts {
  readonly madeAtMs: number
  readonly span: LedgerReport['span']
  readonly basis: LedgerReport['basis']
  readonly log: LogCounts
  /** The span may begin before the log does. */
  readonly logIsCut: boolean
  /** null: there is no journal. */
  readonly journal: (JournalCounts & { readonly losses: readonly LedgerLoss[]; readonly isCut: boolean }) | null
  /** null: no heartbeat tells anything. */
  readonly bridge: BridgeCounts | null
  readonly deadLetters: Kept<SideCounts>
  readonly late: Kept<SideCounts>
  readonly results: ResultsByKind
  readonly resultsAreCut: boolean
  /** null, or why: there is no lake. */
  readonly lake: LakeCounts | string
  readonly stored: StoredCounts
}

/** The ledger of what was counted: stations in the order of the way, and the steps between them with a name for each difference. */
export function balanceLedger(counts: LedgerCounts): LedgerReport {
  const steps = [
    ...journalStep(counts),
    ...bridgeStep(counts),
    judgedStep(counts),
    sideStep(LEDGER_STATIONS.deadLetters, counts.deadLetters),
    sideStep(LEDGER_STATIONS.late, counts.late),
    ...lakeStep(counts),
    resultStep(counts),
    storedStep(counts),
  ]
  const unnamed = steps.reduce((sum, step) => sum + Math.abs(step.unnamed), 0)
  return {
    version: 1,
    madeAtMs: counts.madeAtMs,
    span: counts.span,
    balanced: unnamed === 0,
    unnamed,
    stations: stationsOf(counts),
    steps,
    lost: counts.journal?.losses ?? [],
    bridges: counts.bridge?.bridges ?? [],
    basis: counts.basis,
  }
}

const total = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((sum, count) => sum + count, 0)
const ownRecords = ({ heartbeats, settings }: JudgedCounts) => heartbeats + settings

/** Records that were judged. */
function judgedTotal(judged: JudgedCounts): number {
  const { partlyLate: _within, ...outcomes } = judged
  return total(outcomes)
}

/** Records in the log as read, and dead letters of the bridge. */
const acknowledged = ({ log }: LedgerCounts) => judgedTotal(log.judged) + total(log.letters)

type Lines = readonly (readonly [LedgerCause, number])[]

/** A step; what its lines leave over is unnamed. */
function step(from: LedgerStationName, to: LedgerStationName, fromCount: number, toCount: number, all: Lines): LedgerStep {
  const lines: LedgerLine[] = all.filter(([, change]) => change !== 0).map(([cause, change]) => ({ cause, change }))
  const unnamed = toCount - fromCount - lines.reduce((sum, { change }) => sum + change, 0)
  return { from, to, fromCount, toCount, lines, unnamed }
}

function journalStep(counts: LedgerCounts): LedgerStep[] {
  const { journal, log } = counts
  if (journal === null) return []
  const lines: Lines = [
    [LEDGER_CAUSES.lostAtBroker, -journal.lost],
    [LEDGER_CAUSES.onTheWay, -journal.onTheWay],
    [LEDGER_CAUSES.merged, -journal.merged],
    [LEDGER_CAUSES.otherFormat, -journal.otherFormat],
    [LEDGER_CAUSES.loggedOutside, -journal.loggedOutside],
    [LEDGER_CAUSES.publishedOutside, journal.publishedOutside],
    [LEDGER_CAUSES.redelivered, journal.redelivered],
    [LEDGER_CAUSES.notInJournal, journal.notInJournal],
    [LEDGER_CAUSES.beforeJournal, log.beforeJournal],
    [LEDGER_CAUSES.ownRecords, ownRecords(log.judged)],
    [LEDGER_CAUSES.repaired, log.repaired],
  ]
  return [step(LEDGER_STATIONS.published, LEDGER_STATIONS.acknowledged, journal.published, acknowledged(counts), lines)]
}

/** Messages that no heartbeat covers were received once at least, each. */
function receivedCount({ bridge }: LedgerCounts): number {
  return bridge === null ? 0 : bridge.received + bridge.messages - bridge.logged + bridge.letters - bridge.refused
}

function bridgeStep(counts: LedgerCounts): LedgerStep[] {
  const { bridge, log } = counts
  if (bridge === null) return []
  const surplus = bridge.logged + bridge.refused - (bridge.received - bridge.merged - bridge.clock)
  const lines: Lines = [
    [LEDGER_CAUSES.merged, -bridge.merged],
    [LEDGER_CAUSES.clock, -bridge.clock],
    // More in the log than was received: one batch written twice. Other bytes than any before are no repetition.
    [LEDGER_CAUSES.redelivered, Math.max(0, Math.min(surplus, log.repeated))],
    [LEDGER_CAUSES.ownRecords, ownRecords(log.judged)],
    [LEDGER_CAUSES.repaired, log.repaired],
  ]
  return [step(LEDGER_STATIONS.received, LEDGER_STATIONS.acknowledged, receivedCount(counts), acknowledged(counts), lines)]
}

function judgedStep({ log }: LedgerCounts): LedgerStep {
  const letters = total(log.letters)
  const lines: Lines = [[LEDGER_CAUSES.refusedByBridge, -letters]]
  return step(LEDGER_STATIONS.acknowledged, LEDGER_STATIONS.judged, log.promised + letters, judgedTotal(log.judged), lines)
}

/** Retention explains what is missing only where the topic no longer has its beginning. */
function missingLines(missing: number, pending: number, isCut: boolean): Lines {
  return [
    [LEDGER_CAUSES.pending, -pending],
    [LEDGER_CAUSES.expired, isCut ? -missing : 0],
  ]
}

function sideStep(to: LedgerStationName, side: Kept<SideCounts>): LedgerStep {
  return step(LEDGER_STATIONS.judged, to, total(side.expected), total(side.found), missingLines(side.missing, side.pending, side.isCut))
}

function lakeStep({ lake, log }: LedgerCounts): LedgerStep[] {
  if (typeof lake === 'string') return []
  const lines: Lines = [
    [LEDGER_CAUSES.lakeHole, -lake.holes],
    ...missingLines(Math.max(0, log.keptSettled - lake.holes - lake.rows), log.kept - log.keptSettled, lake.isCut),
  ]
  return [step(LEDGER_STATIONS.judged, LEDGER_STATIONS.lake, log.kept, lake.rows, lines)]
}

/** Sums a count over the kinds of result. */
const overKinds = (of: (kind: ResultKind) => number) => RESULT_KINDS.reduce((sum, kind) => sum + of(kind), 0)

function resultStep({ results, resultsAreCut, stored }: LedgerCounts): LedgerStep {
  const missing = overKinds((kind) => results[kind].missing)
  // Compaction has taken a signal state that changed again; PostgreSQL tells that it has.
  const compacted = Math.min(results.senyal.missing, stored.newerSignals)
  return step(
    LEDGER_STATIONS.judged,
    LEDGER_STATIONS.results,
    overKinds((kind) => results[kind].expected),
    overKinds((kind) => results[kind].found),
    [
      [LEDGER_CAUSES.replaced, -(overKinds((kind) => results[kind].replaced) + compacted)],
      ...missingLines(
        missing - compacted,
        overKinds((kind) => results[kind].pending),
        resultsAreCut,
      ),
    ],
  )
}

function storedStep({ results, resultsAreCut, stored }: LedgerCounts): LedgerStep {
  const found = overKinds((kind) => results[kind].found)
  const rows = overKinds((kind) => stored.rows[kind])
  let [replaced, pending, missing] = [0, 0, 0]
  for (const kind of RESULT_KINDS) {
    const newer = kind === 'senyal' ? stored.newerSignals : results[kind].superseded
    const gone = Math.max(0, results[kind].found - stored.rows[kind])
    const isReplaced = Math.min(gone, newer)
    const isPending = Math.min(gone - isReplaced, results[kind].unstored)
    replaced += isReplaced
    pending += isPending
    missing += gone - isReplaced - isPending
  }
  return step(LEDGER_STATIONS.results, LEDGER_STATIONS.stored, found, rows, [
    [LEDGER_CAUSES.replaced, -replaced],
    // Kafka has deleted rows that PostgreSQL still has.
    [LEDGER_CAUSES.expired, resultsAreCut ? Math.max(0, rows - (found - replaced - pending - missing)) : 0],
    ...missingLines(missing, pending, stored.isCut),
  ])
}

function stationsOf(counts: LedgerCounts): LedgerStation[] {
  const { journal, bridge, log, deadLetters, late, lake, results, resultsAreCut, stored, logIsCut } = counts
  const logCertainty: LedgerCertainty = logIsCut ? 'at-least' : 'exact'
  const cut = logIsCut ? 'retention may have deleted records of the span' : undefined
  return [
    journal === null
      ? station(LEDGER_STATIONS.published, null, 'unknown', [], 'no publisher has a journal here')
      : station(
          LEDGER_STATIONS.published,
          journal.published,
          journal.isCut ? 'at-least' : 'exact',
          [],
          journal.isCut ? 'the journal begins within the span' : undefined,
        ),
    bridge === null
      ? station(LEDGER_STATIONS.received, null, 'unknown', [], 'no heartbeat of the span tells what its bridge received')
      : station(LEDGER_STATIONS.received, receivedCount(counts), 'at-least', [], 'a bridge tells it every 10 s'),
    station(
      LEDGER_STATIONS.acknowledged,
      log.promised + total(log.letters),
      logCertainty,
      [
        { name: 'posicions', count: judgedTotal(log.judged) - ownRecords(log.judged) },
        { name: 'batecs', count: log.judged.heartbeats },
        { name: 'parametres', count: log.judged.settings },
        ...partsOf(log.letters),
      ],
      cut,
    ),
    station(LEDGER_STATIONS.judged, judgedTotal(log.judged), logCertainty, judgedParts(log.judged), cut),
    station(LEDGER_STATIONS.deadLetters, total(deadLetters.found), certainty(deadLetters.isCut), partsOf(deadLetters.found)),
    station(LEDGER_STATIONS.late, total(late.found), certainty(late.isCut), partsOf(late.found)),
    typeof lake === 'string'
      ? station(LEDGER_STATIONS.lake, null, 'unknown', [], lake)
      : station(LEDGER_STATIONS.lake, lake.rows, certainty(lake.isCut), []),
    station(
      LEDGER_STATIONS.results,
      overKinds((kind) => results[kind].found),
      certainty(resultsAreCut),
      RESULT_KINDS.map((kind) => ({ name: kind, count: results[kind].found })),
    ),
    station(
      LEDGER_STATIONS.stored,
      overKinds((kind) => stored.rows[kind]),
      certainty(stored.isCut),
      RESULT_KINDS.map((kind) => ({ name: kind, count: stored.rows[kind] })),
    ),
  ]
}

const certainty = (isCut: boolean): LedgerCertainty => (isCut ? 'at-least' : 'exact')

function station(
  name: LedgerStationName,
  count: number | null,
  known: LedgerCertainty,
  parts: readonly LedgerPart[],
  why?: string,
): LedgerStation {
  return { name, count, certainty: known, parts, ...(why === undefined ? {} : { why }) }
}

const partsOf = (counts: Readonly<Record<string, number>>): LedgerPart[] =>
  Object.entries(counts)
    .map(([name, count]) => ({ name, count }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))

function judgedParts(judged: JudgedCounts): LedgerPart[] {
  return [
    { name: 'acceptats', count: judged.accepted },
    { name: 'parcial', count: judged.partlyLate, within: 'acceptats' },
    { name: 'reenviat', count: judged.sameMessage },
    { name: 'mateix-instant', count: judged.sameInstant },
    { name: 'tard', count: judged.late },
    { name: 'invalid', count: judged.invalid },
    { name: 'futur', count: judged.future },
    { name: 'antic', count: judged.ancient },
    { name: 'batecs', count: judged.heartbeats },
    { name: 'parametres', count: judged.settings },
  ]
}
