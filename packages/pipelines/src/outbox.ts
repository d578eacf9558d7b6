import type { Emission, OutputName } from '@km0/contracts'

/** Collects what the operators emit, and notes the record that caused it. */
export class Outbox {
  private emissions: Emission[] = []
  private partition = 0
  private offset = 0

  /** What is emitted from now on is caused by this record. */
  at(partition: number, offset: number): void {
    this.partition = partition
    this.offset = offset
  }

  emit(output: OutputName, key: string | null, value: string): void {
    this.emissions.push({ output, key, value, partition: this.partition, offset: this.offset })
  }

  get isEmpty(): boolean {
    return this.emissions.length === 0
  }

  /** Takes everything out, in order of emission. */
  drain(): Emission[] {
    const taken = this.emissions
    this.emissions = []
    return taken
  }

  /** Forgets what was not taken: it belongs to a state that is being replaced. */
  clear(): void {
    this.emissions = []
  }
}
