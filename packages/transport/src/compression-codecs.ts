import { decompress as decompressZstd } from 'fzstd'
import kafkajs from 'kafkajs'
import { compressFrame, decompressFrame } from 'lz4-napi'
import { compress as compressSnappy, uncompress as uncompressSnappy } from 'snappy'

// Node.js does not see these two by name in kafkajs' CommonJS.
const { CompressionCodecs, CompressionTypes } = kafkajs

/** What kafkajs asks of a codec (its documentation, "Compression"). */
interface Codec {
  compress(encoder: { readonly buffer: Buffer }): Promise<Buffer>
  decompress(buffer: Buffer): Promise<Buffer>
}

/** First bytes of the frame that Java clients put around Snappy: magic and two version numbers, then blocks behind their lengths (xerial snappy-java, `SnappyOutputStream`). */
const XERIAL_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const XERIAL_HEADER_BYTES = 16

const SNAPPY: Codec = {
  compress: ({ buffer }) => compressSnappy(buffer),
  async decompress(buffer) {
    if (!buffer.subarray(0, XERIAL_MAGIC.length).equals(XERIAL_MAGIC)) return snappyBlock(buffer)
    const blocks: Buffer[] = []
    let at = XERIAL_HEADER_BYTES
    while (at < buffer.length) {
      const lengthBytes = buffer.readInt32BE(at)
      blocks.push(await snappyBlock(buffer.subarray(at + 4, at + 4 + lengthBytes)))
      at += 4 + lengthBytes
    }
    return Buffer.concat(blocks)
  },
}

async function snappyBlock(block: Buffer): Promise<Buffer> {
  return Buffer.from(await uncompressSnappy(block, { asBuffer: true }))
}

const LZ4: Codec = {
  compress: ({ buffer }) => compressFrame(buffer),
  decompress: (buffer) => decompressFrame(buffer),
}

const ZSTD: Codec = {
  compress: () => Promise.reject(new Error('this program reads zstd and does not write it; set no compression, gzip, snappy or lz4')),
  decompress: async (buffer) => Buffer.from(decompressZstd(buffer)),
}

/**
 * Makes kafkajs read what Java clients write with Snappy, LZ4 (Kafka Streams' and Flink's choice in many set-ups) and Zstandard; of itself it knows gzip only.
 * A record that nobody can read would stop its partition for good, whoever wrote it. Called once, before the first client.
 */
export function readEveryCompression(): void {
  CompressionCodecs[CompressionTypes.Snappy] = () => SNAPPY
  CompressionCodecs[CompressionTypes.LZ4] = () => LZ4
  CompressionCodecs[CompressionTypes.ZSTD] = () => ZSTD
}
