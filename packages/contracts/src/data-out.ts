/** What leaves the platform besides its pages: events, to whom they go, and what became of each delivery. Times are ms since 1970. */

export const EVENT_KINDS = ['no-signal', 'returned', 'corrected', 'low-stock', 'low-stock-over'] as const
export type EventKind = (typeof EVENT_KINDS)[number]

/** A silence is told of after so long, each step once; growing. */
export type SilenceSteps = readonly [number, number, number]
/** Unless a setting says otherwise. */
export const SILENCE_STEPS_MS: SilenceSteps = [180_000, 900_000, 3_600_000]

interface EventFrame {
  /** Place in the stream: grows in the order in which events become visible. Not the same after the store was made anew. */
  readonly id: number
  /** Natural key: the same event has the same key for ever. */
  readonly key: string
  /** Time of what it tells. */
  readonly atMs: number
  /** Time of the platform when it was found. */
  readonly foundAtMs: number
}

/** A van has sent nothing for a step of time. Where it was then, when that is known. */
export interface NoSignalEvent extends EventFrame {
  readonly kind: 'no-signal'
  readonly van: string
  readonly sinceMs: number
  readonly stepMs: number
  readonly lat: number | null
  readonly lon: number | null
}

/** A van of which a silence was told sends again. */
export interface ReturnedEvent extends EventFrame {
  readonly kind: 'returned'
  readonly van: string
  readonly sinceMs: number
  readonly endedMs: number
}

/** Points of a silence that was told, and is over, have come late: known then, known now. Told again when more of them come. */
export interface CorrectedEvent extends EventFrame {
  readonly kind: 'corrected'
  readonly van: string
  readonly sinceMs: number
  readonly endedMs: number
  /** How long it was taken for. */
  readonly thenMs: number
  /** Its longest stretch without a point, late ones counted. */
  readonly knownGapMs: number
  readonly latePoints: number
}

export interface LowStockEvent extends EventFrame {
  readonly kind: 'low-stock'
  readonly product: string
  readonly market: string
  readonly startMs: number
  readonly reason: 'begun' | 'halved' | 'empty'
  readonly stock: number
  readonly threshold: number | null
}

export interface LowStockOverEvent extends EventFrame {
  readonly kind: 'low-stock-over'
  readonly product: string
  readonly market: string
  readonly startMs: number
  readonly endMs: number
  readonly minimum: number
  readonly threshold: number
}

export type PlatformEvent = NoSignalEvent | ReturnedEvent | CorrectedEvent | LowStockEvent | LowStockOverEvent

export const CHANNELS = ['webhook', 'email', 'folder'] as const
export type Channel = (typeof CHANNELS)[number]

/** Who gets what. The secret of a webhook is told once, when it is made. */
export interface SubscriptionView {
  readonly id: number
  readonly name: string
  readonly channel: Channel
  /** Address of the webhook, mail addresses with commas, or beginning of the file's name. */
  readonly target: string
  readonly locale: 'ca' | 'es' | 'en'
  readonly kinds: readonly EventKind[]
  /** Silences are told from this step on. */
  readonly leastStepMs: number
  /** Time of day in Madrid of the daily report, minutes after midnight; null: none. */
  readonly reportMinutes: number | null
  /** null: all that there are. */
  readonly depots: readonly string[] | null
  readonly markets: readonly string[] | null
  readonly ownerName: string
  readonly createdAtMs: number
  /** `narrowed`: its owner sees less now than was asked for, and so is told less. `stopped`: its owner may come in no more; nothing is told. */
  readonly standing: 'active' | 'narrowed' | 'stopped'
}

export type DeliveryState = 'waiting' | 'sent' | 'dead'

export interface DeliveryView {
  readonly id: number
  readonly subscriptionId: number
  readonly subscriptionName: string
  readonly channel: Channel
  readonly key: string
  /** Of the event; `report` for a daily report, `test` for one that somebody asked for. */
  readonly kind: EventKind | 'report' | 'test'
  readonly state: DeliveryState
  readonly attempts: number
  readonly createdAtMs: number
  readonly triedAtMs: number | null
  /** What the receiver said, or why it was not reached. */
  readonly answer: string
}

/** Answer of GET /api/subscriptions. */
export interface DataOutView {
  readonly nowMs: number
  readonly subscriptions: readonly SubscriptionView[]
  /** Newest first. */
  readonly deliveries: readonly DeliveryView[]
  /** What the installation can send with; what is not set up says so. */
  readonly channels: Readonly<Record<Channel, boolean>>
  /** After how long a silence is told of. */
  readonly silenceStepsMs: SilenceSteps
}
