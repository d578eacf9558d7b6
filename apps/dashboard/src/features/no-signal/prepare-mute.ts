import { madridDay, madridTimeOfDay } from '@km0/contracts/madrid'
import type { Van } from '../van/prepare-fleet.ts'

const HOUR_MS = 3_600_000
const MORNING_MINUTES = 6 * 60

export type MuteUntil = 'hour' | 'shift' | 'eight' | 'morning' | 'open'

/** Until when a mute may last, offered to whoever mutes; `shift` only where one is in force. */
export function muteChoices(van: Van, nowMs: number): { readonly key: MuteUntil; readonly untilMs: number | null }[] {
  const today = madridTimeOfDay(nowMs, MORNING_MINUTES)
  const morning = today > nowMs ? today : madridTimeOfDay(madridDay(nowMs).endMs, MORNING_MINUTES)
  const shiftEndMs = van.shift?.endMs ?? null
  return [
    { key: 'hour', untilMs: nowMs + HOUR_MS },
    ...(shiftEndMs !== null && shiftEndMs - nowMs < 24 * HOUR_MS ? [{ key: 'shift' as const, untilMs: shiftEndMs }] : []),
    { key: 'eight', untilMs: nowMs + 8 * HOUR_MS },
    { key: 'morning', untilMs: morning },
    { key: 'open', untilMs: null },
  ]
}
