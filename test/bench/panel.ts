// How long a position takes from MQTT to the screen, and what the panel costs. The whole platform as `npm start` runs it, without the demo fleet;
// vans of a process of their own; a real browser with WebGL in software, all on this machine.
//   node infra/build.mjs && node infra/build.mjs --pages && pnpm bench panel [--vans 140,10000] [--seconds 30] [--runs 3] [--json]
// `--hour` measures instead whether memory stays flat: an hour of 140 vans, a delta a second and batches between them, fifteen times as fast.
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { launchBrowser } from '@km0/testkit/browser'
import { PlatformUnderTest } from '../e2e/platform.ts'
import { measureHour } from './panel-hour.ts'
import { quantile } from './panel-page.ts'
import { measure, type PanelRun, signIn, VANS } from './panel-run.ts'
import { exitCode, giveUp, machine, median, printLines, type SubjectLine } from './report.ts'

const { values } = parseArgs({
  options: {
    vans: { type: 'string', default: '140,10000' },
    seconds: { type: 'string', default: '30' },
    runs: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
    hour: { type: 'boolean', default: false },
  },
})
const runs = Number(values.runs)
if (!(runs >= 1)) giveUp(`--runs is a number from 1, not ${values.runs}`)
if (values.hour && values.json) giveUp('--hour has a table only')

const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
process.stderr.write(`commit ${commit}; ${machine()}\n`)
if (values.hour) {
  for (const line of await measureHour()) console.log(line)
  process.exit(0)
}
const measured = await measureAll(values.vans.split(',').map(Number))
const lines = [...measured].map(([vans, all]) => lineOf(vans, all))
if (values.json) printLines(lines)
else table(measured)
process.exit(exitCode(lines))

async function measureAll(fleets: readonly number[]): Promise<Map<number, PanelRun[]>> {
  const all = new Map<number, PanelRun[]>(fleets.map((vans) => [vans, []]))
  const platform = await PlatformUnderTest.start(['--no-demo'])
  try {
    const browser = await launchBrowser()
    const cookies = await signIn(browser, platform)
    for (let run = 0; run < runs; run += 1)
      for (const vans of fleets) {
        const one = await measure(browser, platform, cookies, vans, Number(values.seconds))
        all.get(vans)?.push(one)
        process.stderr.write(`${vans} vans: publish to pixel p99 ${text(quantile(one.seen.publishToPaint, 0.99))} ms\n`)
      }
    await browser.close()
  } finally {
    await platform.stop()
  }
  return all
}

/** All that works but the vans: the platform, its services and the browser. */
function lineOf(vans: number, all: readonly PanelRun[]): SubjectLine {
  const each = (pick: (run: PanelRun) => number) => all.map(pick).map((value) => Number(value.toFixed(2)))
  const of = (pick: (run: PanelRun) => readonly number[], part: number) => each((run) => quantile(pick(run), part))
  const misplaced = new Set(all.flatMap((run) => run.misplaced))
  const drawn = new Set(all.flatMap(({ seen }) => Object.keys(seen.drawn)))
  return {
    bench: `panel ${vans} vans`,
    subject: 'ours',
    seconds: each(({ seconds }) => seconds),
    cpu_seconds: each(({ shares }) => shares.filter(({ name }) => name !== VANS).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)),
    records: median(each(({ seen }) => seen.publishToPaint.length)),
    peak_rss_mb: Math.max(...each(({ peakRssMb }) => peakRssMb)),
    digest: `${drawn.size} vans drawn, ${misplaced.size} elsewhere than published`,
    exact: misplaced.size === 0 && all.every(({ seen }) => Object.keys(seen.drawn).length > 0),
    more: {
      publish_to_pixel_p50_ms: of(({ seen }) => seen.publishToPaint, 0.5),
      publish_to_pixel_p99_ms: of(({ seen }) => seen.publishToPaint, 0.99),
      server_to_paint_p50_ms: of(({ seen }) => seen.serverToPaint, 0.5),
      server_to_paint_p99_ms: of(({ seen }) => seen.serverToPaint, 0.99),
      frame_p50_ms: of(({ seen }) => seen.frames, 0.5),
      frame_p99_ms: of(({ seen }) => seen.frames, 0.99),
      long_tasks: each(({ seen }) => seen.longTasks.length),
      heap_mb: each(({ heapMb }) => heapMb),
      first_load_kb: each(({ firstLoad }) => firstLoad.zipped),
    },
  }
}

function table(measured: ReadonlyMap<number, readonly PanelRun[]>): void {
  console.log(
    '| vans | drawn a second | publish to pixel p50 / p99, ms | server to paint | between frames | long tasks | heap MB | first load JS, KB (unpacked) | CPU of one core, % |',
  )
  console.log('|---|---|---|---|---|---|---|---|---|')
  for (const [vans, all] of measured) {
    const of = (pick: (run: PanelRun) => number) => median(all.map(pick))
    const both = (pick: (run: PanelRun) => readonly number[]) =>
      [0.5, 0.99].map((part) => text(of((run) => quantile(pick(run), part)))).join(' / ')
    const figures = [
      text(of(({ seen, seconds }) => seen.publishToPaint.length / seconds)),
      both(({ seen }) => seen.publishToPaint),
      both(({ seen }) => seen.serverToPaint),
      both(({ seen }) => seen.frames),
      `${text(of(({ seen }) => seen.longTasks.length))}, most ${text(Math.max(0, ...all.flatMap(({ seen }) => seen.longTasks)))}`,
      of(({ heapMb }) => heapMb).toFixed(1),
      `${of(({ firstLoad }) => firstLoad.zipped)} (${of(({ firstLoad }) => firstLoad.unpacked)})`,
      sharesOf(all),
    ]
    console.log(`| ${vans} | ${figures.join(' | ')} |`)
  }
  console.log(`\nmedians of ${runs} turns; commit ${commit}; ${machine()}`)
}

/** Programs from 1 % of a core. */
function sharesOf(all: readonly PanelRun[]): string {
  const names = new Set(all.flatMap(({ shares }) => shares.map(({ name }) => name)))
  return [...names]
    .map((name) => [name, Math.round(median(all.map(({ shares }) => shares.find((share) => share.name === name)?.percent ?? 0)))] as const)
    .filter(([, percent]) => percent >= 1)
    .sort(([, a], [, b]) => b - a)
    .map(([name, percent]) => `${name} ${percent}`)
    .join(', ')
}

function text(ms: number): string {
  return String(Math.round(ms))
}
