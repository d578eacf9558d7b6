import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { writeDurably } from './durable-file.ts'
import type { CheckpointEntry } from './store.ts'

/** Which log the checkpoints belong to. Lives beside them. */
const epochSchema = z.object({
  /** Raised by reset, repartition and restore: results of a greater epoch replace those of a smaller one. */
  epoch: z.number().int().min(1),
  clusterId: z.string().min(1),
})

export type LogEpoch = z.infer<typeof epochSchema>

/** The log is not the one that the checkpoints were made from. The message says what to do. */
export class LogContradictionError extends Error {
  override readonly name = 'LogContradictionError'
}

const FILE = 'epoch.json'

/** The epoch file of a checkpoint directory; null before the first start. Throws LogContradictionError when it cannot be read. */
export async function readEpoch(directory: string): Promise<LogEpoch | null> {
  let text: string
  try {
    text = await readFile(join(directory, FILE), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  try {
    return epochSchema.parse(JSON.parse(text))
  } catch (error) {
    throw new LogContradictionError(
      `${join(directory, FILE)} is damaged. Write {"epoch":N,"clusterId":"…"} into it with an N greater than any before, or remove the checkpoint directory.`,
      { cause: error },
    )
  }
}

/** What the checkpoints say about the log, and what the log says. */
export interface LogEvidence {
  readonly directory: string
  readonly clusterId: string
  /** All that the directory holds; those of other epochs are of other logs and prove nothing. */
  readonly checkpoints: readonly CheckpointEntry[]
  /** Offset after the newest record, by partition. */
  readonly endOffsets: ReadonlyMap<number, number>
}

/**
 * The epoch in force; makes the file with epoch 1 at the first start. Throws LogContradictionError when the broker is another one, or its
 * log ends before a checkpoint: offsets would then mean other records, and results of old and new ones would mix.
 */
export async function claimEpoch(evidence: LogEvidence): Promise<LogEpoch> {
  const { directory, clusterId } = evidence
  const known = await readEpoch(directory)
  const wayOn =
    `If the log was replaced on purpose, start a new epoch: \`pnpm km0 epoch raise --checkpoints ${directory}\` ` +
    '(or `npm start -- --reset` to begin with nothing). Otherwise point KAFKA_BROKERS at the right broker.'
  if (known === null) {
    const first: LogEpoch = { epoch: 1, clusterId }
    await writeDurably(join(directory, FILE), `${JSON.stringify(first)}\n`)
    return first
  }
  if (known.clusterId !== clusterId) {
    throw new LogContradictionError(
      `the checkpoints belong to the Kafka cluster ${known.clusterId}, but this one is ${clusterId}. ${wayOn}`,
    )
  }
  for (const { epoch, partition, offset } of evidence.checkpoints) {
    if (epoch !== known.epoch) continue
    const end = evidence.endOffsets.get(partition)
    if (end === undefined || end < offset) {
      const found = end === undefined ? 'does not exist' : `ends at offset ${end}`
      throw new LogContradictionError(`partition ${partition} ${found}, but a checkpoint was made at offset ${offset}. ${wayOn}`)
    }
  }
  return known
}

/** Raises the epoch for the log of `clusterId`, which may be a new one. Returns the new epoch. */
export async function raiseEpoch(directory: string, clusterId: string): Promise<LogEpoch> {
  const known = await readEpoch(directory)
  const next: LogEpoch = { epoch: (known?.epoch ?? 0) + 1, clusterId }
  await writeDurably(join(directory, FILE), `${JSON.stringify(next)}\n`)
  return next
}
