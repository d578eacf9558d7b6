import { HEADERS } from '@km0/contracts'

const MEMBER = `"${HEADERS.batteryPercent}"`

/** What the battery held by the text of a position, in whole per cent; null when it was not sent, or is none. */
export function batteryOf(text: string | null): number | null {
  // Most vans send none: they cost no parsing.
  if (text === null || !text.includes(MEMBER)) return null
  try {
    const percent: unknown = (JSON.parse(text) as Record<string, unknown>)[HEADERS.batteryPercent]
    return typeof percent === 'number' && percent >= 0 && percent <= 100 ? Math.round(percent) : null
  } catch {
    return null
  }
}
