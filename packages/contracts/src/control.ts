import { isEventMs, type JsonObject } from './wire-json.ts'

/** Values of `tipus` that make a record one of ours that carries no event; sections 1 and 6. */
export const HEARTBEAT_KIND = 'batec'
export const SETTINGS_KIND = 'parametres'

const MAX_SETTING_MS = 3_600_000

/** Delay and allowed lateness that a settings record puts in force. */
export interface ClockSettings {
  readonly delayMs: number
  readonly allowedLatenessMs: number
}

/** Event time of a heartbeat value; null when it is `invalid`. */
export function decodeHeartbeat(value: JsonObject): number | null {
  return isEventMs(value.data_ms) ? value.data_ms : null
}

/** The settings in a settings value; null when it is `invalid`. */
export function decodeSettings(value: JsonObject): ClockSettings | null {
  const { data_ms, retard_ms, marge_ms } = value
  if (!isEventMs(data_ms) || !isSetting(retard_ms) || !isSetting(marge_ms)) return null
  return { delayMs: retard_ms, allowedLatenessMs: marge_ms }
}

function isSetting(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_SETTING_MS && Number.isInteger(value)
}
