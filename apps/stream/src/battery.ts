import { HEADERS } from '@km0/contracts'

const MEMBER = Buffer.from(`"${HEADERS.batteryPercent}"`)

/** What the battery held by the value of a position, in whole per cent; null when it was not sent, or is none. */
export function readBattery(value: Buffer | null): number | null {
  // Most vans send none: they cost no parsing.
  if (value === null || !value.includes(MEMBER)) return null
  try {
    const percent: unknown = JSON.parse(value.toString('utf8'))[HEADERS.batteryPercent]
    return typeof percent === 'number' && percent >= 0 && percent <= 100 ? Math.round(percent) : null
  } catch {
    return null
  }
}
