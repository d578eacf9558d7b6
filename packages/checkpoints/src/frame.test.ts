import { expect, it } from 'vitest'
import { decodeCheckpoint, encodeLines } from './frame.ts'

const place = { pipeline: 'p', partition: 0, offset: 1, epoch: 1 }

it.each([
  ['one line', ['x']],
  ['one long line that packs well', ['x'.repeat(100_000)]],
  ['one long line that does not', [Array.from({ length: 20_000 }, (_, n) => (n * 2_654_435_761) % 4_294_967_296).join()]],
  ['many lines', Array.from({ length: 5_000 }, (_, n) => `{"line":${n},"é":"ç"}`)],
  ['an empty line', ['']],
])('a packed checkpoint holds all of it: %s', async (_name, lines) => {
  for (let round = 0; round < 4; round += 1) {
    const bytes = await encodeLines({ ...place, lines })
    expect(decodeCheckpoint(bytes, { ...place, bytes: bytes.length })).toEqual({ ...place, snapshot: lines.join('\n') })
  }
})
