/** What a sparkline draws, in a box of `width` × `height`: lines, single points where a neighbour is missing, and the newest value. */
export interface SparklineShape {
  /** SVG path; a new `M` after each gap. */
  readonly line: string
  readonly area: string
  readonly dots: readonly (readonly [x: number, y: number])[]
  readonly last: readonly [x: number, y: number] | null
}

const INSET = 2

/** `maximum` is the value at the top, the same for all rows of a table so that they compare. Missing values are gaps, not zeros. */
export function prepareSparkline(values: readonly (number | null)[], maximum: number, width: number, height: number): SparklineShape {
  const step = values.length > 1 ? (width - 2 * INSET) / (values.length - 1) : 0
  const top = Math.max(maximum, 1)
  const at = (value: number, index: number) =>
    [round(INSET + index * step), round(height - INSET - (Math.min(value, top) / top) * (height - 2 * INSET))] as const
  const runs: (readonly [number, number])[][] = []
  let run: (readonly [number, number])[] | null = null
  values.forEach((value, index) => {
    if (value === null) {
      run = null
      return
    }
    if (run === null) {
      run = []
      runs.push(run)
    }
    run.push(at(value, index))
  })
  const lines = runs.filter((points) => points.length > 1)
  const path = (points: readonly (readonly [number, number])[]) => `M${points.map(([x, y]) => `${x} ${y}`).join('L')}`
  const newest = values.at(-1)
  return {
    line: lines.map(path).join(''),
    area: lines.map((points) => `${path(points)}L${points.at(-1)?.[0]} ${height}L${points[0]?.[0]} ${height}Z`).join(''),
    dots: runs.filter((points) => points.length === 1).flat(),
    last: newest === null || newest === undefined ? null : at(newest, values.length - 1),
  }
}

const round = (value: number) => Math.round(value * 10) / 10
