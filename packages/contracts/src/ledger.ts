/**
 * The ledger: what stood at each station of a position's way in a span of time, and what became of every difference between two of them.
 * `pnpm ledger --json` prints a LedgerReport, the panel shows one. What each name means: docs/ledger.md.
 */

/** Stations, in the order of the way. */
export const LEDGER_STATIONS = {
  /** Messages in the publishers' journal. */
  published: 'publicats',
  /** MQTT messages that reached a bridge, redeliveries included; at least. */
  received: 'rebuts',
  /** Records of a bridge in Kafka: positions as they came, heartbeats, settings, and its dead letters. */
  acknowledged: 'confirmats',
  /** The same records as the rules of section 3 judge them. */
  judged: 'classificats',
  /** Dead letters of the windowing job, each source record once. */
  deadLetters: 'rebutjats',
  /** Late side output, each source record once. */
  late: 'tardans',
  /** Rows of the lake's positions. */
  lake: 'llac',
  /** Result rows in Kafka, each key once. */
  results: 'resultats',
  /** Result rows in PostgreSQL. */
  stored: 'desats',
} as const

export type LedgerStationName = (typeof LEDGER_STATIONS)[keyof typeof LEDGER_STATIONS]

/** Why two neighbouring stations differ. */
export const LEDGER_CAUSES = {
  /** The broker has acknowledged it, and lost it. */
  lostAtBroker: 'perdut-al-broker',
  /** Published, and nothing that was published later is in the log yet. */
  onTheWay: 'en-cami',
  /** A redelivery that the bridge has merged with its twin; or two equal messages of one publisher. */
  merged: 'bessons',
  /** Messages of the player's clock, which make no record. */
  clock: 'rellotge',
  /** Published in the span, written into the log outside of it. */
  loggedOutside: 'registrat-fora',
  /** The reverse. */
  publishedOutside: 'publicat-fora',
  /** One published message stands in the log more than once: redelivered after a crash, or written again after a refusal of Kafka. */
  redelivered: 'reenviat',
  /** In the log, in no journal: another publisher, or a journal that was cut. */
  notInJournal: 'fora-del-diari',
  /** Older than what the journal still holds. */
  beforeJournal: 'abans-del-diari',
  /** Records of the bridge's own: heartbeats and settings. */
  ownRecords: 'propis',
  /** Published in a format that the bridge rewrites: it cannot be found by its bytes. */
  otherFormat: 'altre-format',
  /** A dead letter that a person has put right: a new record, written past the bridge. */
  repaired: 'reparat',
  /** Dead letters of the bridge: they are no record of the positions. */
  refusedByBridge: 'rebutjat-pel-pont',
  /** The next program has not come so far yet. */
  pending: 'pendent',
  /** A newer row of the same key has taken its place. */
  replaced: 'substituit',
  /** Retention has deleted it. */
  expired: 'esborrat',
  /** Kafka had deleted it before the lake had it. */
  lakeHole: 'forat-del-llac',
} as const

export type LedgerCause = (typeof LEDGER_CAUSES)[keyof typeof LEDGER_CAUSES]

/** `at-least`: what a process had counted and not yet told when it died is not in it. */
export type LedgerCertainty = 'exact' | 'at-least' | 'unknown'

/** A part of a station's count: an outcome, a reason, a kind of row. */
export interface LedgerPart {
  readonly name: string
  readonly count: number
  /** Already in another part: `parcial` is in `acceptats`. */
  readonly within?: string
}

export interface LedgerStation {
  readonly name: LedgerStationName
  /** null when nothing can be known of it. */
  readonly count: number | null
  readonly certainty: LedgerCertainty
  readonly parts: readonly LedgerPart[]
  /** Why it is not exact, for people. */
  readonly why?: string
}

export interface LedgerLine {
  readonly cause: LedgerCause
  /** Below 0: left the way here. Above 0: came in here. */
  readonly change: number
}

/**
 * From one station to another: `fromCount + Σ change + unnamed = toCount`. `fromCount` is the part of the station that goes there: of all that
 * was judged, only what is late goes to the late side output.
 */
export interface LedgerStep {
  readonly from: LedgerStationName
  readonly to: LedgerStationName
  readonly fromCount: number
  readonly toCount: number
  /** Causes that are not 0. */
  readonly lines: readonly LedgerLine[]
  /** What nothing explains: 0 when the step balances. */
  readonly unnamed: number
}

/** What the broker has lost of one van. */
export interface LedgerLoss {
  readonly van: string
  readonly count: number
  readonly firstEventMs: number
  readonly lastEventMs: number
  /** SHA-256 of the payload, of the first few. */
  readonly sha256: readonly string[]
}

/** What one instance of a bridge has told of itself within the span. */
export interface LedgerBridge {
  readonly instance: string
  /** Heartbeats between which it was counted. */
  readonly fromMs: number
  readonly toMs: number
  readonly received: number
  readonly merged: number
  readonly clock: number
}

export interface LedgerReport {
  readonly version: 1
  /** Machine's clock. */
  readonly madeAtMs: number
  /** Arrival times, `[fromMs, toMs)`. */
  readonly span: { readonly fromMs: number; readonly toMs: number }
  /** True when no step has anything unnamed. */
  readonly balanced: boolean
  /** Sum over the steps of what is unnamed, without sign. */
  readonly unnamed: number
  readonly stations: readonly LedgerStation[]
  readonly steps: readonly LedgerStep[]
  /** Vans of `perdut-al-broker`, most first; at most 200. */
  readonly lost: readonly LedgerLoss[]
  readonly bridges: readonly LedgerBridge[]
  /** What the outcomes stand on. */
  readonly basis: {
    /** Arrival time from which the log was replayed, so that the state at `fromMs` is the right one. */
    readonly replayedFromMs: number
    readonly records: number
    /** False when retention has deleted records that the state at `fromMs` needs. */
    readonly exact: boolean
  }
}
