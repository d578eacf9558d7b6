import { execFileSync } from 'node:child_process'
import { cpus, loadavg, release, totalmem } from 'node:os'

/** Figures of one program in one bench: one value a run, in the order of the turns. */
export interface SubjectLine {
  readonly bench: string
  readonly subject: string
  readonly version?: string | undefined
  readonly seconds: readonly number[]
  readonly cpu_seconds: readonly number[]
  readonly records: number
  readonly peak_rss_mb: number
  readonly digest: string
  /** Whether the results are, to the last integer, those that they are to be compared with. */
  readonly exact: boolean
  /** Why another digest is right for this program, by its documented rule; absent: a difference is a fault. */
  readonly differs?: string | undefined
  /** What else was measured: members of the line beside the others, and columns of the table. An array has one value a run. */
  readonly more?: Readonly<Record<string, number | readonly number[]>> | undefined
}

/** The machine, the versions and the load, as a sentence. A figure without it says nothing. */
export function machine(): string {
  const [cpu] = cpus()
  const [load = 0] = loadavg()
  const gib = Math.round(totalmem() / 2 ** 30)
  return `${cpus().length} × ${cpu?.model.trim()}, ${gib} GiB, Linux ${release()}, Node ${process.versions.node}, Java ${java()}, load ${load.toFixed(1)}`
}

function java(): string {
  try {
    return /"([^"]+)"|openjdk (\S+)/.exec(execFileSync('java', ['--version'], { encoding: 'utf8' }))?.[2] ?? 'unknown'
  } catch {
    return 'none'
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}

/** Median with smallest and largest. */
export function spread(values: readonly number[], digits = 2): string {
  if (values.length === 1) return (values[0] ?? Number.NaN).toFixed(digits)
  return `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`
}

/** How many times as much as ours, run by run: turns that came one after the other met the same machine. */
function ratio(theirs: readonly number[], ours: readonly number[]): string {
  return spread(theirs.slice(0, ours.length).map((value, run) => value / (ours[run] ?? Number.NaN)))
}

/**
 * Prints what was measured: a line of JSON a subject, or a table. `ours` is the first subject. Returns the exit code: 1 when a result
 * differs from what it should be.
 */
export function report(lines: readonly SubjectLine[], json: boolean): number {
  const [ours] = lines
  if (ours === undefined) throw new Error('nothing was measured')
  if (json) printLines(lines)
  else table(lines, ours)
  return exitCode(lines)
}

/** One line of JSON a subject. */
export function printLines(lines: readonly SubjectLine[]): void {
  for (const { differs: _differs, more, ...line } of lines) console.log(JSON.stringify({ ...line, ...more }))
}

/** 1 when a result differs from what it should be, which it says, else 0. */
export function exitCode(lines: readonly SubjectLine[]): number {
  const wrong = lines.filter(({ exact, differs }) => !exact && differs === undefined)
  for (const { subject, digest } of wrong) process.stderr.write(`${subject}: other results than expected: ${digest}\n`)
  return wrong.length === 0 ? 0 : 1
}

function table(lines: readonly SubjectLine[], ours: SubjectLine): void {
  const more = Object.keys(ours.more ?? {})
  const heads = [
    'program',
    'seconds',
    'CPU s',
    'records/s',
    'CPU µs a record',
    'wall, ours = 1',
    'CPU, ours = 1',
    'peak MB',
    'same results',
  ]
  const all = [...heads, ...more.map((name) => name.replaceAll('_', ' '))]
  console.log(`| ${all.join(' | ')} |\n|${'---|'.repeat(all.length)}`)
  for (const { subject, version, seconds, cpu_seconds, records, peak_rss_mb, exact, differs, more: others = {} } of lines) {
    const name = version === undefined ? subject : `${subject} ${version}`
    const rates = [Math.round(records / median(seconds)).toLocaleString('en'), ((1e6 * median(cpu_seconds)) / records).toFixed(2)]
    const ratios = [ratio(seconds, ours.seconds), ratio(cpu_seconds, ours.cpu_seconds)]
    const figures = [spread(seconds), spread(cpu_seconds), ...rates, ...ratios, peak_rss_mb, exact ? 'yes' : (differs ?? 'NO')]
    console.log(`| ${name} | ${[...figures, ...more.map((member) => text(others[member]))].join(' | ')} |`)
  }
  console.log(`\n${ours.seconds.length} turns; ${machine()}`)
}

function text(value: number | readonly number[] | undefined): string {
  if (value === undefined) return ''
  return typeof value === 'number' ? value.toLocaleString('en') : spread(value)
}

/** Ends the program with what to do, without a stack trace. */
export function giveUp(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}
