import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodePacked, encodePacked, UNKNOWN_INT32 } from './packed-columns.ts'

const bufferOf = (bytes: Uint8Array<ArrayBuffer>) => bytes.buffer

describe('packed columns', () => {
  it('come back as they were, whatever the header says (property)', () => {
    fc.assert(
      fc.property(fc.object(), fc.array(fc.tuple(fc.integer(), fc.integer()), { maxLength: 50 }), (header, rows) => {
        // What JSON does not tell is not kept.
        const told = JSON.parse(JSON.stringify(header)) as object
        const columns = [Int32Array.from(rows, ([a]) => a), Int32Array.from(rows, ([, b]) => b)]
        expect(decodePacked(bufferOf(encodePacked(header, columns)))).toEqual({ header: told, columns })
      }),
    )
  })

  it('take any text and the least number', () => {
    const { header, columns } = decodePacked<{ text: string }>(
      bufferOf(encodePacked({ text: 'Camí de l’Àliga \u{1F69A}' }, [Int32Array.of(UNKNOWN_INT32)])),
    )
    expect(header.text).toBe('Camí de l’Àliga \u{1F69A}')
    expect(columns[0]?.[0]).toBe(UNKNOWN_INT32)
  })

  it('refuse columns of different lengths, and bytes that are something else or cut off', () => {
    expect(() => encodePacked({}, [new Int32Array(1), new Int32Array(2)])).toThrow('differ in length')
    expect(() => decodePacked(new ArrayBuffer(4))).toThrow()
    expect(() => decodePacked(new ArrayBuffer(64))).toThrow('no packed columns')
    const whole = encodePacked({ a: 1 }, [Int32Array.of(1, 2)])
    expect(() => decodePacked(whole.slice(0, -1).buffer)).toThrow('cut off')
  })
})
