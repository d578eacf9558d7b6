import { decodeSnapshot, encodeSnapshot } from '@km0/windowing'
import type { EpisodeBookSnapshot } from '../stock-episodes/episode-book.ts'
import type { StockRules } from './windows-task.ts'

export const STOCK_WINDOWS_PIPELINE = 'stock-windows'

/** Raise it when the state below, or what a rule makes of it, changes. */
const VERSION = 1

export interface WindowsSnapshot {
  readonly sources: number
  readonly seen: readonly (readonly [partition: number, offset: number])[]
  readonly newestArrivalMs: number | null
  /** Snapshot of the windowing core, as an object. */
  readonly host: unknown
  readonly episodes: EpisodeBookSnapshot
}

const identity = (rules: StockRules) => ({ pipeline: STOCK_WINDOWS_PIPELINE, version: VERSION, settings: { ...rules } })

export function encodeWindowsSnapshot(rules: StockRules, state: WindowsSnapshot): string {
  return encodeSnapshot({ ...identity(rules), state })
}

export function readWindowsSnapshot(text: string, rules: StockRules): WindowsSnapshot {
  return decodeSnapshot(text, identity(rules)) as WindowsSnapshot
}
