import { DEFAULT_POSITIONS_SETTINGS, type PipelineHost } from '@km0/contracts'
import { createPositionsHost } from '@km0/pipelines'
import { Explainer } from './replay-explain.ts'
import { linesOf, parseLine } from './replay-input.ts'
import { ReplayError, type ReplayOptions } from './replay-options.ts'

/** Where the command reads and writes. `write` and `explain` take whole lines with their ends. */
export interface ReplayStreams {
  readonly input: AsyncIterable<Uint8Array>
  write(text: string): Promise<void> | void
  explain(text: string): Promise<void> | void
}

/** Replays the log of `streams.input`. Throws a ReplayError that names the line at fault; what came before it has been written. */
export async function replay(options: ReplayOptions, streams: ReplayStreams): Promise<void> {
  await replayLive(options, streams)
}

async function replayLive(options: ReplayOptions, streams: ReplayStreams): Promise<void> {
  const explainer = options.explain ? new Explainer() : null
  const host = createHost(options, explainer)
  let number = 0
  for await (const lines of linesOf(streams.input)) {
    let results = ''
    let explained = ''
    let failure: unknown
    for (const line of lines) {
      number += 1
      try {
        const record = parseLine(line, number)
        if (record === null) continue
        const { partition, offset, timestampMs, key, text } = record
        const flags = host.onRecord(partition, offset, timestampMs, key, text, text === null ? 0 : Buffer.byteLength(text), true)
        const emissions = host.drain()
        for (const { output, key, value, partition, offset } of emissions) {
          results += `{"topic":"${output}","key":${JSON.stringify(key)},"value":${value},"at":{"partition":${partition},"offset":${offset}}}\n`
        }
        if (explainer !== null) explained += `${explainer.explain(record, flags, emissions, host)}\n`
      } catch (error) {
        failure = error
        break
      }
    }
    if (results !== '') await streams.write(results)
    if (explained !== '') await streams.explain(explained)
    if (failure !== undefined) throw failure
  }
}

function createHost(options: ReplayOptions, explainer: Explainer | null): PipelineHost {
  if (options.job === 'stock') throw new ReplayError('stock: not yet')
  return createPositionsHost(
    {
      ...DEFAULT_POSITIONS_SETTINGS,
      delayMs: options.delayMs ?? DEFAULT_POSITIONS_SETTINGS.delayMs,
      allowedLatenessMs: options.allowedLatenessMs ?? DEFAULT_POSITIONS_SETTINGS.allowedLatenessMs,
      livePoints: options.livePoints,
    },
    explainer,
  )
}
