import fc from 'fast-check'

/** Names of members that stand on our wires, and those that have bitten others. */
const MEMBERS = [
  ...['repartidor', 'lat', 'lon', 'data_ms', 'tipus', 'retard_ms', 'marge_ms', 'dades', 'producte', 'mercat', 'estoc_actual', 'particio'],
  ...['inici_ms', 'fi_ms', 'distances', 'points', 'pipeline', 'version', 'settings', 'state', 'tst', 'VP', '_type', 'ara_ms'],
  ...['__proto__', 'constructor', 'toString', 'length', ''],
]
const KINDS = ['batec', 'parametres', 'distancia', 'senyal', 'sessio', 'tall', 'estoc.actualitzat', 'location']

const odd = fc.constantFrom<unknown>(
  ...[0, -0, 1e308, -1e308, 2 ** 53, 2 ** 53 - 1, 5e-324, 1_789_380_000_000, 1789380000, 0.1, -180, 180.0001],
  ...[null, true, '', '\u0000', '\ud800', '🚚', '41.9794', 'NaN', 'furgoneta-3', [], {}],
)
const message = fc.dictionary(fc.constantFrom(...MEMBERS), fc.oneof(odd, fc.constantFrom(...KINDS), fc.jsonValue({ maxDepth: 2 })), {
  maxKeys: 8,
})

/** How one byte string becomes another: cut, doubled, bytes changed, put in or left out. */
const damage = fc.record({
  at: fc.nat(4_000),
  take: fc.nat(20),
  put: fc.uint8Array({ maxLength: 6 }),
  how: fc.constantFrom('cut', 'twice', 'change', 'head'),
})

function damaged(bytes: Uint8Array, { at, take, put, how }: { at: number; take: number; put: Uint8Array; how: string }): Uint8Array {
  const place = bytes.length === 0 ? 0 : at % bytes.length
  if (how === 'cut') return bytes.slice(0, place)
  if (how === 'twice') return Buffer.concat([bytes, bytes])
  if (how === 'head') return Buffer.concat([put, bytes])
  return Buffer.concat([bytes.slice(0, place), put, bytes.slice(Math.min(bytes.length, place + take))])
}

/** Bytes from outside: noise, JSON that looks like ours, and what is good, damaged in up to three places. */
export function arbitraryBytes(good: readonly (string | Uint8Array)[]): fc.Arbitrary<Buffer> {
  const noise = fc.uint8Array({ maxLength: 400 })
  const json = fc
    .oneof(message, fc.jsonValue(), fc.array(message, { maxLength: 3 }))
    .map((value) => Buffer.from(JSON.stringify(value) ?? ''))
  const nearly =
    good.length === 0
      ? noise
      : fc
          .tuple(fc.constantFrom(...good), fc.array(damage, { minLength: 1, maxLength: 3 }))
          .map(([bytes, damages]) => damages.reduce<Uint8Array>(damaged, Buffer.from(bytes as string)))
  return fc
    .oneof({ weight: 2, arbitrary: noise }, { weight: 3, arbitrary: json }, { weight: 5, arbitrary: nearly })
    .map((b) => Buffer.from(b))
}

/** Text from bytes, broken UTF-8 replaced, as it reaches those who decode text. */
export const textOf = (bytes: Buffer): string => bytes.toString('utf8')
