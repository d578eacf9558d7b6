import type { LedgerLoss } from '@km0/contracts'
import { type CountTable, digestKey } from './count-table.ts'

/** What the ledger reads of a line of a publisher's journal. */
export interface JournalEntry {
  readonly van: string
  readonly eventMs: number
  readonly arrivalMs: number
  readonly sha256: string
  /** The bridge writes its bytes as they came. */
  readonly verbatim: boolean
}

/** Columns of the table of messages. A dead letter of the bridge counts as logged: it has the message's digest. */
export const MESSAGE = { loggedIn: 0, loggedOut: 1, publishedIn: 2, publishedOut: 3 } as const
export const MESSAGE_COLUMNS = 4

export interface JournalCounts {
  readonly published: number
  readonly otherFormat: number
  readonly lost: number
  readonly onTheWay: number
  /** Published more than once alike, and logged less often: the bridge has merged them. */
  readonly merged: number
  readonly loggedOutside: number
  readonly publishedOutside: number
  readonly redelivered: number
  readonly notInJournal: number
}

/** Lines of one journal that were published so much earlier than a logged one, and are not in the log, are lost: batches of partitions interleave. */
const ORDER_SLACK_MS = 5_000
const LOSSES_SHOWN = 200
const DIGESTS_SHOWN = 5

interface Loss {
  count: number
  firstEventMs: number
  lastEventMs: number
  readonly sha256: string[]
}

/**
 * Compares what publishers say that the broker acknowledged with what is in the log. A journal is in the order of acknowledgement, and the
 * broker gives its messages on in that order: one that is missing before one that is there is lost, one behind all that are there is on its way.
 */
export class JournalTally {
  readonly #messages: CountTable
  readonly #drained: boolean
  /** Not in the log, and nothing that was published later is there so far. */
  #waiting: JournalEntry[] = []
  readonly #losses = new Map<string, Loss>()
  #published = 0
  #otherFormat = 0
  #lost = 0

  /** `messages` holds the whole log by now. `drained`: nothing is on its way any more. */
  constructor(messages: CountTable, drained: boolean) {
    this.#messages = messages
    this.#drained = drained
  }

  /** A line in the order of its journal; one outside the span only explains what is in the log. */
  line(entry: JournalEntry, inSpan: boolean): void {
    if (inSpan) this.#published += 1
    if (!entry.verbatim) {
      if (inSpan) this.#otherFormat += 1
      return
    }
    const key = digestKey(entry.sha256)
    if (this.#messages.has(key)) {
      this.#messages.add(key, inSpan ? MESSAGE.publishedIn : MESSAGE.publishedOut)
      this.#settle(entry.arrivalMs - ORDER_SLACK_MS)
    } else if (inSpan) this.#waiting.push(entry)
  }

  /** The journal of another publisher begins: its order is its own. */
  endOfJournal(): void {
    if (this.#drained) this.#settle(Number.POSITIVE_INFINITY)
    this.#onTheWay += this.#waiting.length
    this.#waiting = []
  }
  #onTheWay = 0

  #settle(untilMs: number): void {
    if (this.#waiting.length === 0) return
    const left: JournalEntry[] = []
    for (const entry of this.#waiting) {
      if (entry.arrivalMs < untilMs) this.#lose(entry)
      else left.push(entry)
    }
    this.#waiting = left
  }

  #lose({ van, eventMs, sha256 }: JournalEntry): void {
    this.#lost += 1
    const loss = this.#losses.get(van) ?? { count: 0, firstEventMs: eventMs, lastEventMs: eventMs, sha256: [] }
    loss.count += 1
    loss.firstEventMs = Math.min(loss.firstEventMs, eventMs)
    loss.lastEventMs = Math.max(loss.lastEventMs, eventMs)
    if (loss.sha256.length < DIGESTS_SHOWN) loss.sha256.push(sha256)
    this.#losses.set(van, loss)
  }

  losses(): LedgerLoss[] {
    return [...this.#losses]
      .map(([van, loss]) => ({ van, ...loss }))
      .sort((a, b) => b.count - a.count || (a.van < b.van ? -1 : 1))
      .slice(0, LOSSES_SHOWN)
  }

  counts(): JournalCounts {
    const counts = { merged: 0, loggedOutside: 0, publishedOutside: 0, redelivered: 0, notInJournal: 0 }
    this.#messages.each((row) => {
      const [loggedIn = 0, loggedOut = 0, publishedIn = 0, publishedOut = 0] = row
      const publishedLeft = Math.max(0, publishedIn - loggedIn)
      const loggedLeft = Math.max(0, loggedIn - publishedIn)
      const outside = Math.min(publishedLeft, Math.max(0, loggedOut - publishedOut))
      counts.loggedOutside += outside
      counts.merged += publishedLeft - outside
      const before = Math.min(loggedLeft, Math.max(0, publishedOut - loggedOut))
      counts.publishedOutside += before
      if (publishedIn + publishedOut > 0) counts.redelivered += loggedLeft - before
      else counts.notInJournal += loggedLeft - before
    })
    return { published: this.#published, otherFormat: this.#otherFormat, lost: this.#lost, onTheWay: this.#onTheWay, ...counts }
  }
}
