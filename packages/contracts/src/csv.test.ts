import { describe, expect, it } from 'vitest'
import { csvText } from './csv.ts'

const cell = (text: string) => csvText(['a', 'b'], [[text, 1]]).split('\r\n')[1]

describe('CSV', () => {
  it.each([
    ['a,"b"', '"a,""b""",1'],
    ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")",1`],
    ['+1', "'+1,1"],
    ['-1', "'-1,1"],
    ['@x', "'@x,1"],
    ['\t=x', "'\t=x,1"],
    [' =1+1', "' =1+1,1"],
    ['＝1', "'＝1,1"],
    ['two\nlines', '"two\nlines",1'],
    ['Peça', 'Peça,1'],
  ])('%j is written as %s', (text, written) => {
    expect(cell(text)).toBe(written)
  })

  it('numbers stand as they are, nothing is empty', () => {
    expect(csvText(['a', 'b', 'c'], [[-1.5, 1e6, null]])).toBe('a,b,c\r\n-1.5,1000000,\r\n')
  })

  it('begins with a byte order mark where asked for', () => {
    expect([...Buffer.from(csvText(['a'], [], { bom: true }))]).toEqual([0xef, 0xbb, 0xbf, 0x61, 0x0d, 0x0a])
  })
})
