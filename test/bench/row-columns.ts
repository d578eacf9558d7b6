import type { BatchSink } from '@km0/pipelines/positions/van-batch'

/** Numbers in a typed array that grows. */
class Numbers {
  #values = new Float64Array(65_536)
  count = 0

  add(value: number): void {
    if (this.count === this.#values.length) {
      const larger = new Float64Array(2 * this.count)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.count] = value
    this.count += 1
  }

  at(index: number): number {
    return this.#values[index] ?? 0
  }
}

/** All rows of a batch run as columns in memory, as the peers have them in their tables. */
export class RowColumns implements BatchSink {
  readonly #vans: string[] = []
  readonly #windows = ['van', 'startMs', 'endMs', 'distanceMm', 'positions', 'jumps', 'displacementMm'].map(() => new Numbers())
  readonly #sessions = ['van', 'startMs', 'endMs', 'positions'].map(() => new Numbers())
  readonly #travel = ['van', 'startMs', 'endMs', 'distanceMm', 'positions', 'jumps', 'jumpsMm', 'gaps', 'gapsMm'].map(() => new Numbers())

  distance: BatchSink['distance'] = ({ name }, startMs, endMs, row) => {
    const [van, start, end, distance, positions, jumps, displacement] = this.#windows
    van?.add(this.#number(name))
    start?.add(startMs)
    end?.add(endMs)
    distance?.add(row.distanceMm)
    positions?.add(row.positions)
    jumps?.add(row.jumps)
    displacement?.add(row.displacementMm)
  }

  session: BatchSink['session'] = ({ name }, { startMs, lastMs, count }) => {
    const values = [this.#number(name), startMs, lastMs, count]
    values.forEach((value, index) => {
      this.#sessions[index]?.add(value)
    })
  }

  travel: BatchSink['travel'] = ({ name }, _period, row) => {
    const values = [
      ...[this.#number(name), row.startMs, row.endMs, row.distanceMm],
      ...[row.positions, row.jumps, row.jumpsMm, row.gaps, row.gapsMm],
    ]
    values.forEach((value, index) => {
      this.#travel[index]?.add(value)
    })
  }

  /** Vans come one after the other. */
  #number(name: string): number {
    if (this.#vans.at(-1) !== name) this.#vans.push(name)
    return this.#vans.length - 1
  }

  get count(): number {
    return [this.#windows, this.#sessions, this.#travel].reduce((sum, [van]) => sum + (van?.count ?? 0), 0)
  }

  /** Eight integers over windows and sessions: those of peers/digest.py. */
  digest(): string {
    const numberOf = this.#vans.map((name) => BigInt(/\d+$/.exec(name)?.[0] ?? 0))
    const windows = sums(this.#windows, numberOf, ([, , endMs = 0n, distance = 0n, positions = 0n, jumps = 0n], van) => [
      ...[1n, distance, positions, jumps],
      van * (((endMs / 60_000n) % 997n) + 1n) * ((distance + 31n * positions + 1009n * jumps) % 1_000_003n),
    ])
    const day = 86_400_000n
    const sessions = sums(this.#sessions, numberOf, ([, startMs = 0n, endMs = 0n, positions = 0n], van) => [
      ...[1n, positions],
      van * ((startMs % day) + 3n * (endMs % day) + 7n * positions),
    ])
    return [...windows, ...sessions].join('/')
  }
}

function sums(columns: readonly Numbers[], vans: readonly bigint[], of: (row: readonly bigint[], van: bigint) => bigint[]): bigint[] {
  let total: bigint[] = []
  for (let row = 0; row < (columns[0]?.count ?? 0); row += 1) {
    const values = columns.map((column) => BigInt(column.at(row)))
    const added = of(values, vans[Number(values[0])] ?? 0n)
    total = added.map((value, index) => value + (total[index] ?? 0n))
  }
  return total
}
