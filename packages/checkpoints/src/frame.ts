import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createDeflateRaw, inflateRawSync } from 'node:zlib'
import { z } from 'zod'
import type { Checkpoint, CheckpointEntry, CheckpointOfLines } from './store.ts'

/** First line of a checkpoint's text; the snapshot follows, in format 2 as raw deflate. Length and checksum are of the bytes as they are stored. */
const headSchema = z.object({
  format: z.union([z.literal(1), z.literal(2)]),
  pipeline: z.string(),
  partition: z.number().int().min(0),
  offset: z.number().int().min(0),
  epoch: z.number().int().min(0),
  length: z.number().int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})

/** Bytes of a checkpoint: a line of JSON with its name, length and checksum, then the snapshot as UTF-8. */
export function encodeCheckpoint(checkpoint: Checkpoint): Buffer {
  return framed(1, checkpoint, [Buffer.from(checkpoint.snapshot, 'utf8')])
}

const DEFLATE = { level: 1, chunkSize: 262_144 }

/** The same of lines, packed while they are made: what is held at a time is one line and the packed bytes, and other work goes on meanwhile. */
export async function encodeLines(checkpoint: CheckpointOfLines): Promise<Buffer> {
  const packed: Buffer[] = []
  // The collector is the last stage: without it the pipeline is over when all is written, which may be before the last bytes come out.
  await pipeline(Readable.from(joined(checkpoint.lines)), createDeflateRaw(DEFLATE), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) packed.push(chunk)
  })
  return framed(2, checkpoint, packed)
}

function* joined(lines: Iterable<string>): Generator<string> {
  let between = ''
  for (const line of lines) {
    yield between + line
    between = '\n'
  }
}

function framed(
  format: 1 | 2,
  { pipeline: name, partition, offset, epoch }: Omit<Checkpoint, 'snapshot'>,
  body: readonly Buffer[],
): Buffer {
  const hash = createHash('sha256')
  let length = 0
  for (const chunk of body) {
    hash.update(chunk)
    length += chunk.length
  }
  const head = { format, pipeline: name, partition, offset, epoch, length, sha256: hash.digest('hex') }
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`, 'utf8'), ...body])
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
  const { format, pipeline: name, partition, offset, epoch, length, sha256 } = head.data
  if (name !== entry.pipeline || partition !== entry.partition || offset !== entry.offset || epoch !== entry.epoch) {
    return { reason: `it says that it is ${name}, epoch ${epoch}, partition ${partition}, offset ${offset}` }
  }
  const body = bytes.subarray(end + 1)
  if (body.length !== length) return { reason: `${body.length} bytes of snapshot instead of ${length}` }
  if (createHash('sha256').update(body).digest('hex') !== sha256) return { reason: 'checksum differs' }
  try {
    const snapshot = (format === 1 ? body : inflateRawSync(body)).toString('utf8')
    return { pipeline: name, partition, offset, epoch, snapshot }
  } catch {
    return { reason: 'it cannot be unpacked' }
  }
}
