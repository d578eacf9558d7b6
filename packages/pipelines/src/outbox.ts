import type { Emission, OutputName } from '@km0/contracts'

interface Pending {
  readonly output: OutputName
  readonly value: () => string
  readonly offset: number
}

/** Collects what the operators emit, and notes the record that caused it. */
export class Outbox {
  private emissions: Emission[] = []
  private partition = 0
  private offset = 0
  /** What newer ones of its key replace until the next drain, by partition and key; null where each is emitted. */
  private readonly newest: Map<number, Map<string, Pending>> | null

  /** `coalesce`: of what `emitNewest` is told, only the last of each key and partition is put together, after everything else. */
  constructor(coalesce = false) {
    this.newest = coalesce ? new Map() : null
  }

  /** What is emitted from now on is caused by this record. */
  at(partition: number, offset: number): void {
    this.partition = partition
    this.offset = offset
  }

  emit(output: OutputName, key: string | null, value: string): void {
    this.emissions.push({ output, key, value, partition: this.partition, offset: this.offset })
  }

  /** Emits a state of which only the newest matters. `value` is called at once, or at the next drain. */
  emitNewest(output: OutputName, key: string, value: () => string): void {
    if (this.newest === null) {
      this.emit(output, key, value())
      return
    }
    let byKey = this.newest.get(this.partition)
    if (byKey === undefined) {
      byKey = new Map()
      this.newest.set(this.partition, byKey)
    }
    byKey.set(key, { output, value, offset: this.offset })
  }

  get isEmpty(): boolean {
    return this.emissions.length === 0 && (this.newest === null || this.newest.size === 0)
  }

  /** Takes everything out, in order of emission. */
  drain(): Emission[] {
    const taken = this.emissions
    this.emissions = []
    if (this.newest !== null) this.takeNewest(this.newest, taken)
    return taken
  }

  /** Takes out what was emitted in order; what newer ones may replace stays until the next `drain`. */
  drainOrdered(): Emission[] {
    const taken = this.emissions
    if (taken.length > 0) this.emissions = []
    return taken
  }

  private takeNewest(newest: Map<number, Map<string, Pending>>, into: Emission[]): void {
    for (const [partition, byKey] of newest) {
      for (const [key, { output, value, offset }] of byKey) into.push({ output, key, value: value(), partition, offset })
    }
    newest.clear()
  }

  /** Forgets what was not taken: it belongs to a state that is being replaced. */
  clear(): void {
    this.emissions = []
    this.newest?.clear()
  }
}
