import { HEADERS } from '@km0/contracts'
import { batteryOf } from '@km0/pipelines'

const MEMBER = Buffer.from(`"${HEADERS.batteryPercent}"`)

/** What the battery held by the value of a position, in whole per cent; null when it was not sent, or is none. */
export function readBattery(value: Buffer | null): number | null {
  // Most vans send none: they cost no decoding.
  return value?.includes(MEMBER) ? batteryOf(value.toString('utf8')) : null
}
