import type { StockHistoryView } from '@km0/contracts/stock-panel'

/** What a chart of the last day draws, in a box of `width` × `height`. */
export interface HistoryShape {
  /** Stock as steps: it stays what it was until something is said. */
  readonly line: string
  /** From the last word to now: what is known, not what is measured. */
  readonly since: string
  readonly lowest: { readonly x: number; readonly y: number; readonly stock: number } | null
  /** Height of the threshold; null when it is not known. */
  readonly thresholdY: number | null
  readonly maximum: number
}

const INSET = 3

/** null when nothing is known of the last day. */
export function prepareHistory(view: StockHistoryView, width: number, height: number): HistoryShape | null {
  const { points, fromMs, toMs, threshold, slotSizeMs } = view
  if (points.length === 0) return null
  const maximum = Math.max(1, (threshold ?? 0) * 2, ...points.map((point) => point.last))
  const minimum = Math.min(0, ...points.map((point) => point.minimum))
  const x = (ms: number) => round(((Math.min(Math.max(ms, fromMs), toMs) - fromMs) / (toMs - fromMs)) * width)
  const y = (stock: number) => round(INSET + ((maximum - Math.min(stock, maximum)) / (maximum - minimum)) * (height - 2 * INSET))
  let line = ''
  let lastX = 0
  let lowest: HistoryShape['lowest'] = null
  for (const { slotMs, minimum: least, last } of points) {
    const atX = x(slotMs)
    // The least of a stretch is drawn too: a shelf that was empty for a minute was empty.
    line += line === '' ? `M${atX} ${y(least)}` : `H${atX}V${y(least)}`
    const endX = x(Math.min(slotMs + slotSizeMs, toMs))
    line += `V${y(last)}H${endX}`
    lastX = endX
    if (slotMs + slotSizeMs > fromMs && (lowest === null || least <= lowest.stock)) lowest = { x: atX, y: y(least), stock: least }
  }
  const lastY = y(points.at(-1)!.last)
  return {
    line,
    since: lastX < width ? `M${lastX} ${lastY}H${width}` : '',
    lowest,
    thresholdY: threshold === null ? null : y(threshold),
    maximum,
  }
}

const round = (value: number) => Math.round(value * 10) / 10
