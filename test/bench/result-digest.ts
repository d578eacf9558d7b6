import { createHash } from 'node:crypto'

interface Row {
  readonly tipus?: string
  readonly repartidor: string
  readonly inici_ms: number
  readonly fi_ms: number
  readonly distancia_mm: number
  readonly posicions: number
  readonly salts: number
}

const DAY_MS = 86_400_000n
const MINUTE_MS = 60_000n

/** What result records say, whatever their order and however often they come: the last of each key counts, as for whoever upserts them. */
export class ResultDigest {
  readonly #last = new Map<string, string>()

  add(key: string, value: string): void {
    this.#last.set(key, value)
  }

  get count(): number {
    return this.#last.size
  }

  /** Over everything, signal states too: equal when every key and every byte is. */
  hash(): string {
    const hash = createHash('sha256')
    for (const key of [...this.#last.keys()].sort()) hash.update(`${key}\n${this.#last.get(key)}\n`)
    return hash.digest('hex').slice(0, 16)
  }

  /** Eight integers over windows and sessions: those of peers/digest.py. */
  digest(): string {
    const windows = [0n, 0n, 0n, 0n, 0n]
    const sessions = [0n, 0n, 0n]
    for (const text of this.#last.values()) {
      const row = JSON.parse(text) as Row
      if (row.tipus === 'distancia') add(windows, windowOf(row))
      else if (row.tipus === 'sessio') add(sessions, sessionOf(row))
    }
    return [...windows, ...sessions].join('/')
  }
}

function vanOf({ repartidor }: Row): bigint {
  return BigInt(/\d+$/.exec(repartidor)?.[0] ?? 0)
}

function windowOf(row: Row): bigint[] {
  const [endMs, distance, positions, jumps] = [row.fi_ms, row.distancia_mm, row.posicions, row.salts].map(BigInt) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ]
  const mix = vanOf(row) * (((endMs / MINUTE_MS) % 997n) + 1n) * ((distance + 31n * positions + 1009n * jumps) % 1_000_003n)
  return [1n, distance, positions, jumps, mix]
}

function sessionOf(row: Row): bigint[] {
  const positions = BigInt(row.posicions)
  return [1n, positions, vanOf(row) * ((BigInt(row.inici_ms) % DAY_MS) + 3n * (BigInt(row.fi_ms) % DAY_MS) + 7n * positions)]
}

function add(sums: bigint[], row: readonly bigint[]): void {
  row.forEach((value, index) => {
    sums[index] = (sums[index] ?? 0n) + value
  })
}
