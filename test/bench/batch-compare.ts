import type { SubjectLine } from './report.ts'

/** One line of a program: its runs, the first one cold. */
export interface Line {
  readonly version?: string
  readonly rows: number
  readonly digest: string
  readonly seconds: readonly number[]
  readonly cpu_seconds: readonly number[]
  readonly boot_seconds: number
  readonly peak_rss_mb: number
}

/** A peer's rows are held against ours; ours, as nobody is the judge of himself, against those of whichever peer has the same. */
export function compared(lines: ReadonlyMap<string, readonly Line[]>): Omit<SubjectLine, 'bench'>[] {
  const right = lines.get('ours')?.[0]?.digest
  return [...lines].map(([subject, turns]) => {
    const [first] = turns
    if (first === undefined) throw new Error(`${subject} did not run`)
    const isConfirmed = subject !== 'ours' || [...lines].some(([name, [line]]) => name !== 'ours' && line?.digest === right)
    return {
      subject,
      version: first.version,
      seconds: turns.map(({ seconds }) => seconds.at(-1) ?? Number.NaN),
      cpu_seconds: turns.map(({ cpu_seconds }) => cpu_seconds.at(-1) ?? Number.NaN),
      records: first.rows,
      peak_rss_mb: Math.max(...turns.map(({ peak_rss_mb }) => peak_rss_mb)),
      digest: turns.find(({ digest }) => digest !== right)?.digest ?? first.digest,
      exact: isConfirmed && turns.every(({ digest }) => digest === right),
      more: {
        first_run_cpu_seconds: turns.map(({ cpu_seconds }) => cpu_seconds[0] ?? Number.NaN),
        boot_seconds: turns.map(({ boot_seconds }) => boot_seconds),
      },
    }
  })
}
