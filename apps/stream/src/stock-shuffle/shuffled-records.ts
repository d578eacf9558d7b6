import { encodeShuffled, encodeSource, TOPICS } from '@km0/contracts'
import type { ShuffleOutput } from '@km0/pipelines'
import type { LogRecord, OutRecord } from '@km0/transport'

export interface ShuffledFrom {
  readonly partition: number
  readonly epoch: number
  /** Source partitions that there are. */
  readonly sources: number
  readonly targets: number
}

/** Records of the log for what the task made of `record`, or said of its own accord (`record` null). Values travel as they came. */
export function recordsOf(outputs: readonly ShuffleOutput[], record: LogRecord | null, from: ShuffledFrom): OutRecord[] {
  return outputs.flatMap((output) => {
    if (output.kind === 'refused') return [deadLetter(output.offset, output.arrivalMs, output.value, from)]
    if (output.kind === 'own') return toAll(output.value, headersOf(output, from), output.eventMs, from.targets)
    const value = record?.value ?? null
    if (value === null) throw new Error(`the shuffle made something of a record without value at offset ${output.offset}`)
    const headers = headersOf(output, from)
    if (output.kind === 'copied') return toAll(value, headers, output.arrivalMs, from.targets)
    return [{ topic: TOPICS.stockShuffled.name, key: output.key, value, headers, timestampMs: output.arrivalMs }]
  })
}

function headersOf(output: Exclude<ShuffleOutput, { kind: 'refused' }>, { partition, sources }: ShuffledFrom): Record<string, string> {
  const own = output.kind === 'own'
  return encodeShuffled({
    sourcePartition: partition,
    sourceOffset: output.offset,
    arrivalMs: own ? output.eventMs : output.arrivalMs,
    watermarkMs: output.kind === 'event' ? output.watermarkMs : null,
    number: own ? output.number : null,
    sourcePartitions: own ? sources : null,
  })
}

function toAll(value: Buffer | string, headers: Record<string, string>, timestampMs: number, targets: number): OutRecord[] {
  return Array.from({ length: targets }, (_, partition) => ({
    topic: TOPICS.stockShuffled.name,
    key: null,
    value,
    headers,
    timestampMs,
    partition,
  }))
}

function deadLetter(offset: number, timestampMs: number, value: string, { epoch, partition }: ShuffledFrom): OutRecord {
  return { topic: TOPICS.stockDeadLetters.name, key: null, value, headers: encodeSource({ epoch, partition, offset }), timestampMs }
}
