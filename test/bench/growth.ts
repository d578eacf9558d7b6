// How the cost of the live job grows: `pnpm bench growth [--axis vans|partitions|lateness] [--minutes 5] [--runs 3] [--json] [--svg FILE]`.
// Records to results and the state for a checkpoint, in one process without services, so that nothing else grows beside it. Each size is a
// process of its own. Days grow with the lake: `pnpm bench batch --days 1,7,30`.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { slope } from './growth-fit.ts'
import type { Size } from './growth-log.ts'
import { plot } from './growth-plot.ts'
import type { Cost } from './growth-run.ts'
import { machine, median } from './report.ts'

const { values } = parseArgs({
  options: {
    axis: { type: 'string' },
    minutes: { type: 'string', default: '5' },
    runs: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
    svg: { type: 'string' },
  },
})

const minutes = Number(values.minutes)
const BASE: Size = { vans: 10_000, partitions: 6, lateShare: 0.01, minutes }
const AXES: Readonly<Record<string, { readonly unit: string; readonly sizes: readonly (readonly [number, Size])[] }>> = {
  vans: { unit: 'vans', sizes: [140, 1_000, 10_000, 100_000].map((vans) => [vans, { ...BASE, vans }]) },
  partitions: { unit: 'partitions', sizes: [1, 2, 4, 8, 16, 32].map((partitions) => [partitions, { ...BASE, partitions }]) },
  lateness: { unit: '% late', sizes: [1, 2, 5, 10, 20].map((percent) => [percent, { ...BASE, lateShare: percent / 100 }]) },
}

function measure(size: Size): Cost {
  const file = fileURLToPath(new URL('growth-run.ts', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', '--import', 'tsx', file, JSON.stringify(size)], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`a run of ${JSON.stringify(size)} ended with ${status}: ${stderr.slice(-2_000)}`)
  return JSON.parse(stdout) as Cost
}

function medians(costs: readonly Cost[]): Cost {
  const of = (pick: (cost: Cost) => number) => median(costs.map(pick))
  return {
    records: of(({ records }) => records),
    cpuSeconds: of(({ cpuSeconds }) => cpuSeconds),
    stateMb: of(({ stateMb }) => stateMb),
    checkpointMb: of(({ checkpointMb }) => checkpointMb),
  }
}

const names = values.axis === undefined ? Object.keys(AXES) : [values.axis]
const curves: { readonly axis: string; readonly points: readonly (readonly [number, Cost])[] }[] = []
for (const name of names) {
  const axis = AXES[name]
  if (axis === undefined) {
    process.stderr.write(`--axis is one of ${Object.keys(AXES).join(', ')}, not ${name}\n`)
    process.exit(2)
  }
  const points = axis.sizes.map(([at, size]) => {
    const runs = Array.from({ length: Number(values.runs) }, () => measure(size))
    process.stderr.write(`${at} ${axis.unit}: ${runs.map(({ cpuSeconds }) => cpuSeconds.toFixed(2)).join(', ')} CPU s\n`)
    const cost = medians(runs)
    if (values.json) {
      const line = { bench: 'growth', subject: `${name} ${at}`, cpu_seconds: runs.map(({ cpuSeconds }) => cpuSeconds), ...cost }
      console.log(JSON.stringify(line))
    }
    return [at, cost] as const
  })
  curves.push({ axis: name, points })
  if (!values.json) table(name, axis.unit, points)
}
if (values.svg !== undefined) writeFileSync(values.svg, plot(curves))
if (!values.json) console.log(`\n${values.runs} runs each, medians; ${minutes} minutes of event time; ${machine()}`)

function table(name: string, unit: string, points: readonly (readonly [number, Cost])[]): void {
  console.log(`\n| ${unit} | records | CPU s | CPU µs a record | state MB | checkpoint MB |\n|---|---|---|---|---|---|`)
  for (const [at, { records, cpuSeconds, stateMb, checkpointMb }] of points) {
    const figures = [cpuSeconds.toFixed(2), ((cpuSeconds * 1e6) / records).toFixed(2), stateMb.toFixed(1), checkpointMb.toFixed(2)]
    console.log(`| ${at.toLocaleString('en')} | ${records.toLocaleString('en')} | ${figures.join(' | ')} |`)
  }
  const exponent = (pick: (cost: Cost) => number) => slope(points.map(([at, cost]) => [at, pick(cost)])).toFixed(2)
  console.log(
    `exponent over ${name}: time ${exponent(({ cpuSeconds }) => cpuSeconds)}, state ${exponent(({ stateMb }) => stateMb)}, checkpoint ${exponent(({ checkpointMb }) => checkpointMb)}`,
  )
}
