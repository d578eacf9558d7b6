import { describe, expect, it } from 'vitest'
import { decodeStockEvent } from './stock.ts'

const good = { producte: 'vi', mercat: 'girona', estoc_actual: 3 }
const decode = (dades: unknown, more: object = {}) => decodeStockEvent({ data_ms: 1_789_380_000_000, dades, ...more })

describe('decodeStockEvent', () => {
  it('reads product, market, stock and id', () => {
    expect(decode({ ...good, delta: 'x', replica: 7 }, { id: 'e1' })).toEqual({
      product: 'vi',
      market: 'girona',
      eventMs: 1_789_380_000_000,
      stock: 3,
      id: 'e1',
    })
  })

  it('an id that is no text is none', () => {
    expect([decode(good, { id: 7 })?.id, decode(good, { id: null })?.id, decode(good)?.id]).toEqual([null, null, null])
  })

  it.each([null, undefined, 'x', 7, [good], {}])('refuses dades %j', (dades) => {
    expect(decode(dades)).toBeNull()
  })

  it.each([
    { producte: '' },
    { producte: 'a|b' },
    { mercat: 'a|b' },
    { mercat: null },
    { estoc_actual: 1.5 },
    { estoc_actual: '1' },
    { estoc_actual: 2 ** 53 },
  ])('refuses %j', (wrong) => {
    expect(decode({ ...good, ...wrong })).toBeNull()
  })

  it('takes stock down to the least safe integer, and refuses a wrong time', () => {
    expect(decode({ ...good, estoc_actual: -(2 ** 53 - 1) })?.stock).toBe(-(2 ** 53 - 1))
    expect(decode(good, { data_ms: 1_789_380_000 })).toBeNull()
  })
})
