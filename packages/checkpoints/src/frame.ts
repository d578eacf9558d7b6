import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Checkpoint, CheckpointEntry } from './store.ts'

/** First line of a checkpoint's text; the snapshot follows. */
const headSchema = z.object({
  format: z.literal(1),
  pipeline: z.string(),
  partition: z.number().int().min(0),
  offset: z.number().int().min(0),
  epoch: z.number().int().min(0),
  length: z.number().int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})

/** Bytes of a checkpoint: a line of JSON with its name, length and checksum, then the snapshot as UTF-8. */
export function encodeCheckpoint(checkpoint: Checkpoint): Buffer {
  const body = Buffer.from(checkpoint.snapshot, 'utf8')
  const head = {
    format: 1,
    pipeline: checkpoint.pipeline,
    partition: checkpoint.partition,
    offset: checkpoint.offset,
    epoch: checkpoint.epoch,
    length: body.length,
    sha256: createHash('sha256').update(body).digest('hex'),
  }
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`, 'utf8'), body])
}

/** The checkpoint in these bytes, or why they do not hold the one that `entry` names. */
export function decodeCheckpoint(bytes: Buffer, entry: CheckpointEntry): Checkpoint | { readonly reason: string } {
  const end = bytes.indexOf(0x0a)
  if (end < 0) return { reason: 'no head line' }
  let parsed: unknown
  try {
    parsed = JSON.parse(bytes.toString('utf8', 0, end))
  } catch {
    return { reason: 'the head line is not JSON' }
  }
  const head = headSchema.safeParse(parsed)
  if (!head.success) return { reason: `the head line is wrong: ${head.error.issues[0]?.message ?? 'unknown'}` }
  const { pipeline, partition, offset, epoch, length, sha256 } = head.data
  if (pipeline !== entry.pipeline || partition !== entry.partition || offset !== entry.offset || epoch !== entry.epoch) {
    return { reason: `it says that it is ${pipeline}, epoch ${epoch}, partition ${partition}, offset ${offset}` }
  }
  const body = bytes.subarray(end + 1)
  if (body.length !== length) return { reason: `${body.length} bytes of snapshot instead of ${length}` }
  if (createHash('sha256').update(body).digest('hex') !== sha256) return { reason: 'checksum differs' }
  return { pipeline, partition, offset, epoch, snapshot: body.toString('utf8') }
}
