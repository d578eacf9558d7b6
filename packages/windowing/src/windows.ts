/**
 * Windows `[s, s + sizeMs)` for every s that is a multiple of slideMs. A pane is `[p, p + slideMs)`: a window is the panes in it, so a
 * point is added once, to its pane, however many windows hold it. Tumbling windows are those with slide = size.
 */
export interface WindowShape {
  readonly sizeMs: number
  /** Divides sizeMs. */
  readonly slideMs: number
}

export interface Pane {
  readonly startMs: number
}

/** Checks a shape. Throws a RangeError when its windows are not whole numbers of panes. */
export function windowShape(sizeMs: number, slideMs: number): WindowShape {
  const whole = Number.isSafeInteger(sizeMs) && Number.isSafeInteger(slideMs) && slideMs > 0
  if (!whole || sizeMs < slideMs || sizeMs % slideMs !== 0) {
    throw new RangeError(`a window of ${sizeMs} ms with a slide of ${slideMs} ms: the size must be a positive multiple of the slide`)
  }
  return { sizeMs, slideMs }
}

/** Start of the pane that holds `atMs`. Rounds down below 1970 too. */
export function paneStartMs(shape: WindowShape, atMs: number): number {
  return Math.floor(atMs / shape.slideMs) * shape.slideMs
}

/** How many windows hold a point. */
export function windowsPerPoint(shape: WindowShape): number {
  return shape.sizeMs / shape.slideMs
}

/** How many of the windows that hold the pane at `paneMs` end at or before `markMs`. */
export function windowsEndedBy(shape: WindowShape, paneMs: number, markMs: number): number {
  const sinceFirstMs = markMs - paneMs - shape.slideMs
  if (!(sinceFirstMs >= 0)) return 0
  return Math.min(windowsPerPoint(shape), Math.floor(sinceFirstMs / shape.slideMs) + 1)
}

/** End of the first window that holds the pane at `paneMs` and ends after `markMs`; Infinity when there is none. */
export function nextWindowEndMs(shape: WindowShape, paneMs: number, markMs: number): number {
  const ended = windowsEndedBy(shape, paneMs, markMs)
  return ended === windowsPerPoint(shape) ? Number.POSITIVE_INFINITY : paneMs + (ended + 1) * shape.slideMs
}

/** Ends of the windows that hold one of the panes (ordered by start) and end in `(afterMs, upToMs]`, in order, each once. */
export function windowEnds(shape: WindowShape, panes: readonly Pane[], afterMs: number, upToMs: number): number[] {
  const ends: number[] = []
  let reachedMs = afterMs
  for (const pane of panes) {
    const lastMs = Math.min(pane.startMs + shape.sizeMs, upToMs)
    for (let endMs = nextWindowEndMs(shape, pane.startMs, reachedMs); endMs <= lastMs; endMs += shape.slideMs) {
      ends.push(endMs)
      reachedMs = endMs
    }
  }
  return ends
}

/** Index of the last pane that starts at or before `startMs`, -1 when there is none. Searched from the end, where points come. */
export function paneIndexAtOrBefore(panes: readonly Pane[], startMs: number): number {
  let index = panes.length - 1
  while (index >= 0 && panes[index]!.startMs > startMs) index -= 1
  return index
}
