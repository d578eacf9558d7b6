import { parseArgs } from 'node:util'
import type { BatchRange } from '@km0/contracts'
import { currentSnapshot, readBatchInput } from '@km0/lake'
import { batchNeedsFromMs } from '@km0/pipelines'
import { positionsBatchOver } from '@km0/pipelines/positions/positions-columns'
import { type Command, CommandError } from './command.ts'
import { instantOf, LAKE_ADDRESS_HELP, withLake } from './lake-open.ts'
import { pipelineRules } from './pipeline-rules.ts'

const KINDS = ['distancia', 'sessio', 'recorregut'] as const
/** A range is computed at once: its points are in memory. */
const MAX_RANGE_MS = 7 * 86_400_000

export const lakeResults: Command = {
  words: ['lake', 'results'],
  summary: 'compute results of a range from the lake, late points included',
  help: `km0 lake results --from TIME --to TIME [--van NAME …] [--kind distancia|sessio|recorregut …] [--snapshot N]

  Prints the rows of section 8 (windows, sessions, distance by hour and day) for the range [from, to), one JSON object a line, by key:
  {"key","value"}. Nothing is stored or published. The last line on standard error says which version of the lake was read: with --snapshot
  the same run gives the same rows again. At most seven days at a time.
  ${LAKE_ADDRESS_HELP}`,
  run: async (args) => {
    const text = { type: 'string' } as const
    const many = { type: 'string', multiple: true } as const
    const { values } = parseArgs({ args: [...args], options: { from: text, to: text, van: many, kind: many, snapshot: text } })
    const range = rangeOf(values.from, values.to)
    const kinds = values.kind ?? [...KINDS]
    const wrong = kinds.find((kind) => !KINDS.some((known) => known === kind))
    if (wrong !== undefined) throw new CommandError(`--kind ${wrong}: there are ${KINDS.join(', ')}`)
    if (values.snapshot !== undefined && !/^\d{1,15}$/.test(values.snapshot))
      throw new CommandError(`--snapshot ${values.snapshot}: a whole number`)
    const { rows, points, snapshot } = await compute(range, values.van, values.snapshot === undefined ? null : Number(values.snapshot))
    const wanted = rows.filter(({ key }) => kinds.includes(key.slice(0, key.indexOf('|'))))
    for (let start = 0; start < wanted.length; start += 1_000) {
      const lines = wanted.slice(start, start + 1_000).map(({ key, value }) => `{"key":${JSON.stringify(key)},"value":${value}}\n`)
      if (!process.stdout.write(lines.join(''))) await new Promise((resolve) => process.stdout.once('drain', resolve))
    }
    process.stderr.write(`${wanted.length} rows from ${points} points, version ${snapshot} of the lake\n`)
    return 0
  },
}

function rangeOf(from: string | undefined, to: string | undefined): BatchRange {
  if (from === undefined || to === undefined) throw new CommandError('--from and --to are needed')
  const range = { fromMs: instantOf('from', from), toMs: instantOf('to', to) }
  if (range.fromMs >= range.toMs) throw new CommandError('--from must be before --to')
  if (range.toMs - range.fromMs > MAX_RANGE_MS) throw new CommandError('at most seven days at a time')
  return range
}

async function compute(range: BatchRange, vans: readonly string[] | undefined, wanted: number | null) {
  const settings = pipelineRules('km0')
  return withLake(true, async (lake) => {
    const snapshot = wanted ?? (await currentSnapshot(lake))
    const columns = await readBatchInput(lake, {
      ...range,
      needsFromMs: batchNeedsFromMs(settings, range.fromMs),
      sessionGapMs: settings.sessionGapMs,
      maxGapMs: settings.maxAgeMs,
      snapshot,
      ...(vans === undefined ? {} : { vans }),
    })
    const rows: { readonly key: string; readonly value: string }[] = []
    positionsBatchOver(columns, (key, value) => rows.push({ key, value }), settings, range)
    rows.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    return { rows, points: columns.rowCount, snapshot }
  })
}
