import type { StockNotice, StockNoticeKind } from '@km0/contracts'

/** Newest known stock of a product in a market. Equal event times are ordered by source partition and offset, however partitions interleave. */
export interface NewestStock {
  readonly eventMs: number
  readonly partition: number
  readonly offset: number
  readonly stock: number
}

/** Low stock that lasts, or the last one that has ended. */
export interface Episode {
  /** Start of its first low window, or just after the end of the episode before when that lies later. */
  readonly startMs: number
  /** Event time of the stock that ended it; null while it lasts. */
  endMs: number | null
  minimum: number
  lastWindowMs: number
  readonly notices: StockNotice[]
}

/** What the rule knows of one product in one market. */
export interface EpisodeState {
  newest: NewestStock | null
  /** The newest episode; null before the first. */
  episode: Episode | null
}

export interface LowWindow {
  readonly startMs: number
  readonly endMs: number
  readonly minimum: number
}

export function newEpisodeState(): EpisodeState {
  return { newest: null, episode: null }
}

/**
 * Low stock of one product in one market, told as episodes. An episode begins with the alert of a low window, goes on through further low
 * windows and through quiet time while the newest known stock, by event time, is below the threshold, and ends when it is at or above it.
 * People are told at most three times: when it begins, when its minimum is half of what it was then or less, and when it reaches 0.
 *
 * A window that lies before the end of the last episode belongs to that one: it may lower its minimum, and nobody is told. So what comes
 * again after a crash, a revision or a backfill tells nothing twice.
 */
export class EpisodeRule {
  readonly threshold: number

  constructor(threshold: number) {
    this.threshold = threshold
  }

  /** A stock reading, in any order of event time. Returns whether it is the newest, and whether the episode has changed. */
  onStock(state: EpisodeState, reading: NewestStock, atMs: number): { readonly newest: boolean; readonly episode: boolean } {
    if (state.newest !== null && compareReadings(reading, state.newest) <= 0) return { newest: false, episode: false }
    state.newest = reading
    const { episode } = state
    if (episode === null || episode.endMs !== null) return { newest: true, episode: false }
    if (reading.stock >= this.threshold) {
      // Readings of one instant follow each other by offset: what begins just after the last end must not end before it began.
      episode.endMs = Math.max(reading.eventMs, episode.startMs)
      return { newest: true, episode: true }
    }
    return { newest: true, episode: this.lower(episode, reading.stock, atMs) }
  }

  /** The alert of a window, or a revision of one. Returns whether the newest episode has changed. */
  onAlert(state: EpisodeState, window: LowWindow, atMs: number): boolean {
    const { episode } = state
    if (episode !== null && episode.endMs === null) return this.continue(episode, window, atMs)
    if (episode !== null && this.isOfThePast(state, episode, window)) return lowerEnded(episode, window)
    state.episode = this.begin(state, window, atMs)
    return true
  }

  private begin({ newest, episode }: EpisodeState, window: LowWindow, atMs: number): Episode {
    const lastEndMs = episode?.endMs ?? Number.NEGATIVE_INFINITY
    const begun: Episode = {
      startMs: Math.max(window.startMs, lastEndMs + 1),
      endMs: null,
      // Of a window that the episode before reached into, the minimum may be that one's.
      minimum: window.startMs > lastEndMs || newest === null ? window.minimum : newest.stock,
      lastWindowMs: window.startMs,
      notices: [],
    }
    // Sold out and filled up before the window closed: people are told once, and it is over.
    if (newest !== null && newest.stock >= this.threshold) begun.endMs = Math.max(newest.eventMs, begun.startMs)
    else if (newest !== null && newest.stock < begun.minimum) begun.minimum = newest.stock
    notify(begun, 'comenca', begun.minimum, atMs)
    return begun
  }

  private continue(episode: Episode, window: LowWindow, atMs: number): boolean {
    // Of a window that the episode before reached into, the minimum may be that episode's: it comes again after a crash.
    if (window.startMs < episode.startMs) return false
    const later = window.startMs > episode.lastWindowMs
    if (later) episode.lastWindowMs = window.startMs
    return this.lower(episode, window.minimum, atMs) || later
  }

  /** The window had ended before the episode did, or the stock has not been low since the episode ended within it. */
  private isOfThePast({ newest }: EpisodeState, { endMs }: Episode, window: LowWindow): boolean {
    if (endMs === null) return false
    if (window.endMs <= endMs) return true
    return window.startMs <= endMs && newest !== null && newest.stock >= this.threshold
  }

  private lower(episode: Episode, minimum: number, atMs: number): boolean {
    if (minimum >= episode.minimum) return false
    episode.minimum = minimum
    const first = episode.notices[0]!.estoc
    const told = (kind: StockNoticeKind) => episode.notices.some((notice) => notice.motiu === kind)
    if (minimum <= 0) {
      if (first > 0 && !told('zero')) notify(episode, 'zero', minimum, atMs)
    } else if (minimum * 2 <= first && !told('meitat')) notify(episode, 'meitat', minimum, atMs)
    return true
  }
}

function lowerEnded(episode: Episode, window: LowWindow): boolean {
  if (window.startMs < episode.startMs || window.minimum >= episode.minimum) return false
  episode.minimum = window.minimum
  return true
}

function notify(episode: Episode, motiu: StockNoticeKind, estoc: number, data_ms: number): void {
  episode.notices.push({ motiu, estoc, data_ms })
}

/** Order of two readings: event time, then source partition, then offset. */
export function compareReadings(a: NewestStock, b: NewestStock): number {
  return a.eventMs - b.eventMs || a.partition - b.partition || a.offset - b.offset
}
