import { type BatchHost, DEFAULT_POSITIONS_SETTINGS, DEFAULT_STOCK_SETTINGS, type PipelineHost } from '@km0/contracts'
import { createPositionsBatch, createPositionsHost, createStockBatch, createStockHost } from '@km0/pipelines'
import { Explainer } from './replay-explain.ts'
import { type LogLine, linesOf, parseLine } from './replay-input.ts'
import { ReplayError, type ReplayOptions } from './replay-options.ts'

/** Where the command reads and writes. `write` and `explain` take whole lines with their ends. */
export interface ReplayStreams {
  readonly input: AsyncIterable<Uint8Array>
  write(text: string): Promise<void> | void
  explain(text: string): Promise<void> | void
}

const WRITE_LENGTH = 1 << 20

/** Replays the log of `streams.input`. Throws a ReplayError that names the line at fault; what came before it has been written. */
export async function replay(options: ReplayOptions, streams: ReplayStreams): Promise<void> {
  await (options.mode === 'live' ? replayLive(options, streams) : replayBatch(options, streams))
}

async function replayLive(options: ReplayOptions, streams: ReplayStreams): Promise<void> {
  const explainer = options.explain ? new Explainer() : null
  const host = createHost(options, explainer)
  let results = ''
  let explained = ''
  const flush = async () => {
    if (results !== '') await streams.write(results)
    if (explained !== '') await streams.explain(explained)
    results = ''
    explained = ''
  }
  const apply = (record: LogLine) => {
    const flags = feed(host, record)
    const emissions = host.drain()
    for (const { output, key, value, partition, offset } of emissions) {
      results += `{"topic":"${output}","key":${JSON.stringify(key)},"value":${value},"at":{"partition":${partition},"offset":${offset}}}\n`
    }
    if (explainer !== null) explained += `${explainer.explain(record, flags, emissions, host)}\n`
  }
  await eachRecord(streams.input, apply, flush)
}

async function replayBatch(options: ReplayOptions, streams: ReplayStreams): Promise<void> {
  const range = { fromMs: options.fromMs ?? Number.NEGATIVE_INFINITY, toMs: options.toMs ?? Number.POSITIVE_INFINITY }
  const isStock = options.job === 'stock'
  const host = isStock ? createStockBatch(DEFAULT_STOCK_SETTINGS, range) : createPositionsBatch(DEFAULT_POSITIONS_SETTINGS, range)
  await eachRecord(streams.input, (record) => feed(host, record))
  const topic = isStock ? 'alertes' : 'panell'
  let results = ''
  for (const { key, value } of host.rows()) {
    results += `{"topic":"${topic}","key":${JSON.stringify(key)},"value":${value}}\n`
    if (results.length < WRITE_LENGTH) continue
    await streams.write(results)
    results = ''
  }
  if (results !== '') await streams.write(results)
}

function feed(host: PipelineHost | BatchHost, { partition, offset, timestampMs, key, text }: LogLine): number {
  // What stands in a line of JSON is text: its bytes were UTF-8.
  return host.onRecord(partition, offset, timestampMs, key, text, text === null ? 0 : Buffer.byteLength(text), true)
}

/** Applies each record of the input; `after` runs after each piece of it, also of the last before a line at fault. */
async function eachRecord(input: AsyncIterable<Uint8Array>, apply: (record: LogLine) => void, after?: () => Promise<void>): Promise<void> {
  let number = 0
  for await (const lines of linesOf(input)) {
    try {
      for (const line of lines) {
        number += 1
        const record = parseLine(line, number)
        if (record === null) continue
        applyLine(record, number, apply)
      }
    } finally {
      await after?.()
    }
  }
}

function applyLine(record: LogLine, number: number, apply: (record: LogLine) => void): void {
  try {
    apply(record)
  } catch (error) {
    // The set-up does not fit the log, e.g. too few source partitions.
    if (error instanceof RangeError) throw new ReplayError(`line ${number}: ${error.message}`)
    throw error
  }
}

function createHost(options: ReplayOptions, explainer: Explainer | null): PipelineHost {
  const { delayMs, allowedLatenessMs, partitions, livePoints } = options
  const given = {
    ...(delayMs === undefined ? {} : { delayMs }),
    ...(allowedLatenessMs === undefined ? {} : { allowedLatenessMs }),
  }
  return options.job === 'stock'
    ? createStockHost({ ...DEFAULT_STOCK_SETTINGS, ...given }, partitions, explainer)
    : createPositionsHost({ ...DEFAULT_POSITIONS_SETTINGS, ...given, livePoints }, explainer)
}
