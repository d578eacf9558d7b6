import { type ClockSettings, DEFAULT_STOCK_SETTINGS, decodeShuffled, encodeShuffled, type StockSettings, TOPICS } from '@km0/contracts'
import type { ShuffleSnapshot } from '../stock-shuffle/shuffle-snapshot.ts'
import { type ShuffleOutput, ShuffleTask } from '../stock-shuffle/shuffle-task.ts'
import { stockMarkText } from '../stock-shuffle/stock-mark.ts'
import { StockWindowsTask } from '../stock-shuffle/windows-task.ts'
import { STOCK_WINDOWS_TOPICS } from '../stock-shuffle/windows-topics.ts'
import { type Emit, sourceHeaders } from './emit.ts'

const stockSettingsOf = (json: string | null): StockSettings => ({
  ...DEFAULT_STOCK_SETTINGS,
  ...(json === null ? {} : (JSON.parse(json) as Partial<StockSettings>)),
})

/** The shuffle's work on one source partition of stock. What it writes goes to `topic`, the engine's own, or to the dead letters. */
export class StockShuffleEngine {
  private readonly partition: number
  private readonly epoch: number
  private readonly targets: number
  private readonly topic: string
  private readonly emit: Emit
  private readonly configured: ClockSettings
  private readonly task: ShuffleTask
  private sources = 0

  /** `firstNumber` must grow with every start that finds no state: the time is good. */
  constructor(
    partition: number,
    epoch: number,
    targets: number,
    topic: string,
    settingsJson: string | null,
    firstNumber: number,
    emit: Emit,
  ) {
    const { delayMs, allowedLatenessMs, maxFutureMs, maxAgeMs } = stockSettingsOf(settingsJson)
    this.partition = partition
    this.epoch = epoch
    this.targets = targets
    this.topic = topic
    this.emit = emit
    this.configured = { delayMs, allowedLatenessMs }
    this.task = new ShuffleTask({ maxFutureMs, maxAgeMs }, firstNumber)
  }

  /** Tells every target the settings and the number of source partitions, when they do not know. Call it first, and when sources are added. */
  configure(sources: number, nowMs: number): void {
    const out: ShuffleOutput[] = []
    const more = sources > this.sources
    if (more) this.sources = sources
    if (!this.task.configure(this.configured, nowMs, out) && more) this.task.repeatSettings(nowMs, out)
    this.write(out, null)
  }

  onRecord(offset: number, timestampMs: number, text: string | null, byteLength: number, validUtf8: boolean): number {
    const out: ShuffleOutput[] = []
    const flags = this.task.onRecord(offset, timestampMs, text, byteLength, validUtf8, out)
    this.write(out, text)
    return flags
  }

  /** Tells every target how far the source has come, when they do not know: call it at least once a second. */
  mark(): void {
    const out: ShuffleOutput[] = []
    this.task.mark(out)
    this.write(out, null)
  }

  /** The source was read to its end and has been silent for 10 s. */
  beat(nowMs: number): void {
    const out: ShuffleOutput[] = []
    this.task.beat(nowMs, out)
    this.write(out, null)
  }

  private write(outputs: readonly ShuffleOutput[], text: string | null): void {
    for (const output of outputs) {
      if (output.kind === 'refused') {
        const headers = sourceHeaders(this.epoch, this.partition, output.offset)
        this.emit(TOPICS.stockDeadLetters.name, -1, null, output.value, output.arrivalMs, headers)
        continue
      }
      const own = output.kind === 'own'
      const arrivalMs = own ? output.eventMs : output.arrivalMs
      const headers = Object.entries(
        encodeShuffled({
          sourcePartition: this.partition,
          sourceOffset: output.offset,
          arrivalMs,
          watermarkMs: output.kind === 'event' ? output.watermarkMs : null,
          number: own ? output.number : null,
          sourcePartitions: own ? this.sources : null,
        }),
      )
        .map(([name, value]) => `${name}=${value}`)
        .join(';')
      const value = own ? output.value : (text ?? '')
      if (output.kind === 'event') this.emit(this.topic, -1, output.key, value, arrivalMs, headers)
      else for (let target = 0; target < this.targets; target += 1) this.emit(this.topic, target, null, value, arrivalMs, headers)
    }
  }

  get watermarkMs(): number {
    return this.task.watermarkMs
  }

  /** Small enough to be stored with each record. */
  snapshot(): string {
    return JSON.stringify({ version: 1, sources: this.sources, targets: this.targets, task: this.task.snapshot() })
  }

  /** Throws when the shuffle's topic had another number of partitions: products would change their place. */
  restore(snapshot: string): void {
    const { sources, targets, task } = JSON.parse(snapshot) as { sources: number; targets: number; task: ShuffleSnapshot }
    if (targets !== this.targets) throw new Error(`the shuffle's topic has ${this.targets} partitions, but had ${targets}`)
    this.sources = sources
    this.task.restore(task)
  }
}

/** Windows, newest stock and episodes of one partition of the shuffle's topic. */
export class StockWindowsEngine {
  private readonly partition: number
  private readonly epoch: number
  private readonly emit: Emit
  private readonly task: StockWindowsTask
  private next = 0
  private markedOffset = -1

  constructor(partition: number, epoch: number, settingsJson: string | null, emit: Emit) {
    const { delayMs: _delayMs, allowedLatenessMs: _allowedLatenessMs, ...rules } = stockSettingsOf(settingsJson)
    this.partition = partition
    this.epoch = epoch
    this.emit = emit
    this.task = new StockWindowsTask(rules)
  }

  /** Applies the record at `offset` of the shuffle's topic; `headers` as they were emitted. Returns flags, -1 when it is not of the shuffle. */
  onRecord(offset: number, headers: string, text: string | null, byteLength: number, validUtf8: boolean): number {
    this.next = offset + 1
    const pairs = headers.split(';').map((pair) => pair.split('=') as [string, string])
    const shuffled = decodeShuffled(Object.fromEntries(pairs))
    if (shuffled === null) return -1
    const flags = this.task.onRecord(offset, shuffled, text, byteLength, validUtf8)
    for (const { output, key, value, offset: cause } of this.task.drain()) {
      const partition = output === 'rebutjats' ? -1 : this.partition
      this.emit(STOCK_WINDOWS_TOPICS[output], partition, key, value, shuffled.arrivalMs, sourceHeaders(this.epoch, this.partition, cause))
    }
    return flags
  }

  /** Emits how far this partition has come, when that is not told yet. `nowMs` stamps the record and is in no value. */
  mark(nowMs: number): void {
    if (this.next === this.markedOffset) return
    this.markedOffset = this.next
    const value = stockMarkText(this.partition, this.epoch, this.next, this.task)
    this.emit(TOPICS.stockMarks.name, -1, String(this.partition), value, nowMs, '')
  }

  get watermarkMs(): number {
    return this.task.watermarkMs
  }

  /** The whole state as of the record after the newest: the text that our own job stores at that offset. */
  snapshot(): string {
    return this.task.snapshot()
  }

  /** Replaces the state of a new object. Throws when the text is of another version or of other rules. */
  restore(snapshot: string, nextOffset: number): void {
    this.task.restore(snapshot)
    this.next = nextOffset
  }
}
