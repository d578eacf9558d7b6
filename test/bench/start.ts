// From the command to the first position on the panel's API: `pnpm bench start [--runs 3] [--json]`. After install and build, with an
// empty folder each time, so databases and topics are made too.
import { parseArgs } from 'node:util'
import type { PanelSnapshot } from '@km0/contracts'
import { PlatformUnderTest } from '../e2e/platform.ts'
import { Meter } from './meter.ts'
import { machine, report, type SubjectLine } from './report.ts'

const { values } = parseArgs({ options: { runs: { type: 'string', default: '3' }, json: { type: 'boolean', default: false } } })
const FIRST_POSITION_WITHIN_MS = 180_000

interface Start {
  readonly readySeconds: number
  readonly positionSeconds: number
  readonly cpuSeconds: number
  readonly peakMb: number
}

async function start(): Promise<Start> {
  const startMs = performance.now()
  const seconds = () => Number(((performance.now() - startMs) / 1_000).toFixed(2))
  const platform = await PlatformUnderTest.start([], {}, FIRST_POSITION_WITHIN_MS)
  try {
    const readySeconds = seconds()
    const meter = new Meter(() => platform.pidsOf(''))
    const headers = await platform.tokenHeaders()
    const hasPosition = async () => {
      const answer = await fetch(`${platform.addresses().url}api/panel`, { headers })
      return answer.ok && ((await answer.json()) as PanelSnapshot).points.length > 0
    }
    await platform.until(hasPosition, FIRST_POSITION_WITHIN_MS, 'a first position')
    const positionSeconds = seconds()
    const { cpuSeconds, peakMb } = meter.stop()
    return { readySeconds, positionSeconds, cpuSeconds, peakMb }
  } finally {
    await platform.stop()
  }
}

const starts: Start[] = []
for (let run = 0; run < Number(values.runs); run += 1) {
  const one = await start()
  starts.push(one)
  process.stderr.write(`ready ${one.readySeconds} s, first position ${one.positionSeconds} s; ${machine()}\n`)
}
const line = (subject: string, pick: (one: Start) => number): SubjectLine => ({
  bench: 'start',
  subject,
  seconds: starts.map(pick),
  cpu_seconds: starts.map(({ cpuSeconds }) => cpuSeconds),
  records: 1,
  peak_rss_mb: Math.max(...starts.map(({ peakMb }) => peakMb)),
  digest: 'a position is there',
  exact: true,
})
process.exit(report([line('first position', (one) => one.positionSeconds), line('ready', (one) => one.readySeconds)], values.json))
