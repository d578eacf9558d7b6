/** How long a fault was felt. */
export interface Felt {
  readonly name: string
  /** null: until waiting ended. */
  readonly tookMs: number | null
  /** Another fault was felt at the same time: the figure says little of this one. */
  readonly overlapped: boolean
}

const BESIDE = ' (beside another fault)'
const LINE = /^\d\d:\d\d {2}(.*): (?:results after (\d+\.\d) s|NO RESULTS after \d+ s)( \(beside another fault\))?$/

/** What is said when results flow again. */
export function recoveryLine(name: string, tookMs: number, overlapped: boolean): string {
  return `${name}: results after ${(tookMs / 1000).toFixed(1)} s${overlapped ? BESIDE : ''}`
}

/** The recoveries that a run has told of in its output. */
export function recoveriesIn(output: string): Felt[] {
  return output.split('\n').flatMap((line) => {
    const [, name, seconds, beside] = LINE.exec(line) ?? []
    if (name === undefined) return []
    return [{ name, tookMs: seconds === undefined ? null : Number(seconds) * 1000, overlapped: beside !== undefined }]
  })
}

/** Table of recoveries by kind of fault, slowest first: how many, median and longest of those that came alone. */
export function recoveryTable(recoveries: readonly Felt[]): string[] {
  const byName = new Map<string, Felt[]>()
  for (const recovery of recoveries) byName.set(recovery.name, [...(byName.get(recovery.name) ?? []), recovery])
  const rows = [...byName].map(([name, all]) => {
    const alone = all.filter(({ overlapped }) => !overlapped)
    const took = alone.flatMap(({ tookMs }) => (tookMs === null ? [] : [tookMs])).sort((a, b) => a - b)
    const beside = all.length - alone.length
    return { name, alone: alone.length, beside, medianMs: took[Math.floor((took.length - 1) / 2)], longestMs: took.at(-1) }
  })
  rows.sort((a, b) => (b.longestMs ?? -1) - (a.longestMs ?? -1))
  const seconds = (ms: number | undefined) => (ms === undefined ? '–' : (ms / 1000).toFixed(1))
  return [
    '| fault | alone | median s | longest s | beside another |',
    '|---|---|---|---|---|',
    ...rows.map(
      ({ name, alone, beside, medianMs, longestMs }) => `| ${name} | ${alone} | ${seconds(medianMs)} | ${seconds(longestMs)} | ${beside} |`,
    ),
  ]
}
