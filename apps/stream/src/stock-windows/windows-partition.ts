import { decodeShuffled, encodeSource, TOPICS } from '@km0/contracts'
import { STOCK_WINDOWS_TOPICS, type StockRules, StockWindowsTask, stockMarkText, type WindowsEmission } from '@km0/pipelines'
import { isValueUtf8, type LogRecord, type OutRecord, valueBytes, valueText } from '@km0/transport'

export interface WindowsSlice {
  /** What is to be written, in order. */
  readonly records: readonly OutRecord[]
  /** RECORD_FLAGS and SHUFFLED_FLAGS of each record that is of the shuffle. */
  readonly flags: readonly number[]
  /** Records that are not of the shuffle; they are passed over. */
  readonly foreign: number
}

/**
 * The work on one partition of the shuffle's topic: its state, and what goes to which topic. A function of the partition's records: a restored
 * task writes the same bytes. Results go to the partition with the number of their source. Of newest stock the last of a slice is written.
 */
export class WindowsPartition {
  readonly partition: number
  readonly #epoch: number
  readonly #task: StockWindowsTask
  #nextOffset: number

  constructor(partition: number, epoch: number, rules: StockRules, nextOffset: number) {
    this.partition = partition
    this.#epoch = epoch
    this.#task = new StockWindowsTask(rules)
    this.#nextOffset = nextOffset
  }

  get nextOffset(): number {
    return this.#nextOffset
  }

  get watermarkMs(): number {
    return this.#task.watermarkMs
  }

  get openEpisodes(): number {
    return this.#task.openEpisodes
  }

  /** Applies a stretch of the partition. `nextOffset` is where it goes on after it. */
  apply(records: readonly LogRecord[], nextOffset: number): WindowsSlice {
    const out: OutRecord[] = []
    const live = new Map<string, OutRecord>()
    const flags: number[] = []
    let foreign = 0
    for (const record of records) {
      const headers = decodeShuffled(record.headers)
      if (headers === null) {
        foreign += 1
        continue
      }
      const text = valueText(record)
      flags.push(this.#task.onRecord(record.offset, headers, text, valueBytes(record), isValueUtf8(record, text)))
      for (const emission of this.#task.drain()) {
        const result = this.#resultOf(emission, headers.arrivalMs)
        if (emission.output === 'viu' && emission.key !== null) live.set(emission.key, result)
        else out.push(result)
      }
    }
    this.#nextOffset = nextOffset
    out.push(...live.values())
    return { records: out, flags, foreign }
  }

  #resultOf({ output, key, value, offset }: WindowsEmission, timestampMs: number): OutRecord {
    const headers = encodeSource({ epoch: this.#epoch, partition: this.partition, offset })
    const result = { topic: STOCK_WINDOWS_TOPICS[output], key, value, headers, timestampMs }
    // Dead letters have one partition.
    return output === 'rebutjats' ? result : { ...result, partition: this.partition }
  }

  /** How far this partition has come, for the topic of marks. */
  mark(): OutRecord {
    const value = stockMarkText(this.partition, this.#epoch, this.#nextOffset, this.#task)
    return { topic: TOPICS.stockMarks.name, key: String(this.partition), value }
  }

  /** The whole state as of `nextOffset`: one line, as products are few. */
  snapshotLines(): Iterable<string> {
    return [this.#task.snapshot()]
  }

  /** Takes over a state. Throws when it is of another version of the pipeline, or of other settings. */
  *restoreLines(lines: Iterable<string>, nextOffset: number): Generator<void> {
    for (const line of lines) {
      this.#task.restore(line)
      yield
    }
    this.#nextOffset = nextOffset
  }
}
