import {
  type AcknowledgementView,
  decodeBattery,
  decodeLiveValue,
  decodeMarkValue,
  decodePanelValue,
  decodeSource,
  EVERYTHING,
  type OutagesView,
  type Scope,
  TOPICS,
  type TrailPoint,
} from '@km0/contracts'
import type { Serving } from '@km0/serving'
import type { Log, LogRecord, TailHandle } from '@km0/transport'
import type { PanelEvent } from './panel-events.ts'
import type { PanelSource, SourceHealth } from './panel-source.ts'
import { SourceEnds } from './source-ends.ts'
import { storedEvents } from './stored-events.ts'

/** Moves go out ten times a second: a fetch a position would cost more than the position. */
const LIVE_FETCH = { minBytes: 8_192, maxWaitMs: 50 }
/** How often the register is read again: an import shows after this at the latest. Also how the store's health is known. */
const REGISTER_EVERY_MS = 10_000
const RETRY_MS = 1_000
/** After trouble with the log, so long without more of it means that it is over. */
const TROUBLE_OVER_MS = 10_000
const TRAIL_MAX_POINTS = 200

export interface LogSourceOptions {
  readonly serving: Serving
  readonly log: Log
  /** Time of the platform, for what "the last 35 minutes" are. */
  readonly nowMs: () => number
  readonly onTrouble: (error: unknown, what: string) => void
  /** A live point has come ; its timestamp is the arrival at the bridge. Of what is read after the start. */
  readonly onLivePoint?: (record: LogRecord) => void
  /** A record that is none of ours: counted, passed over. */
  readonly onRefused: (topic: string) => void
  /** What cannot be mended from inside. */
  readonly onFatal: (error: unknown) => void
}

type Decode = (text: string, record: LogRecord) => PanelEvent | 'skip' | null

/**
 * The product's source. Reads the store in one transaction, which also tells how far serving had read `repartiment.panell`, then the log from
 * exactly there; `repartiment.viu` and `repartiment.marques` are compacted and read from their start. Both may be away at any time: it waits.
 */
export class LogSource implements PanelSource {
  readonly #options: LogSourceOptions
  readonly #tails: TailHandle[] = []
  readonly #stopped = new AbortController()
  #registerTimer: NodeJS.Timeout | undefined
  #storeTrouble: string | null = 'not yet reached'
  /** By topic: what was wrong last, and when. A topic that was never reached stays in trouble. */
  readonly #logTrouble = new Map<string, { readonly text: string; readonly untilMs: number }>()
  #readingRegister = false
  readonly #sourceEnds: SourceEnds

  constructor(options: LogSourceOptions) {
    this.#options = options
    this.#sourceEnds = new SourceEnds(() => options.log.endOffsets(TOPICS.positions.name))
  }

  async start(give: (event: PanelEvent) => void): Promise<void> {
    const topic = TOPICS.panel.name
    let isCaughtUp = false
    const live = this.#tail(TOPICS.live.name, 'start', give, (text, record) => {
      const value = decodeLiveValue(text)
      if (value === null) return null
      if (isCaughtUp) this.#options.onLivePoint?.(record)
      return { kind: 'point', value, source: decodeSource(record.headers), batteryPercent: decodeBattery(record.headers) }
    })
    void live.then(() => {
      isCaughtUp = true
    })
    const marks = this.#tail(TOPICS.marks.name, 'start', give, (text) => {
      const value = decodeMarkValue(text)
      if (value === null) return null
      return 'tipus' in value ? { kind: 'outage', value } : { kind: 'mark', value }
    })
    // The marks tell what time it is for the player's clock, and so which windows are the last ones.
    await marks
    const stored = await this.#again(
      'the store',
      (error) => this.#storeFailed(error),
      () => this.#options.serving.readPanelSnapshot(EVERYTHING, { nowMs: this.#options.nowMs(), topic }),
    )
    if (stored === null) return
    this.#storeTrouble = null
    for (const event of storedEvents(stored)) give(event)
    this.#registerTimer = setInterval(() => this.#readRegister(give), REGISTER_EVERY_MS)
    const results = this.#tail(topic, stored.nextOffsets, give, (text, record) => {
      const value = decodePanelValue(text)
      // Sessions are for the store; the panel shows signal states.
      if (value === null) return record.key?.startsWith('sessio|') === true ? 'skip' : null
      const source = decodeSource(record.headers)
      return value.tipus === 'distancia' ? { kind: 'distance', value, source } : { kind: 'signal', value, source }
    })
    await Promise.all([live, results])
  }

  async stop(): Promise<void> {
    this.#stopped.abort()
    clearInterval(this.#registerTimer)
    await Promise.all(this.#tails.map((tail) => tail.close()))
  }

  async acknowledge(scope: Scope, view: AcknowledgementView): Promise<boolean> {
    return this.#options.serving.acknowledge(scope, view)
  }

  async readTrail(scope: Scope, van: string, fromMs: number, toMs: number): Promise<readonly TrailPoint[]> {
    return this.#options.serving.readTrack(scope, van, { fromMs, toMs, maxPoints: TRAIL_MAX_POINTS })
  }

  async readOutages(scope: Scope, fromMs: number, toMs: number): Promise<OutagesView> {
    return this.#options.serving.readOutages(scope, { fromMs, toMs })
  }

  endOffsets(): ReadonlyMap<number, number> | null {
    return this.#sourceEnds.before()
  }

  health(): Readonly<Record<string, SourceHealth>> {
    const nowMs = performance.now()
    const trouble = [...this.#logTrouble].find(([, { untilMs }]) => nowMs < untilMs)
    return {
      kafka: trouble === undefined ? { status: 'ok' } : { status: 'down', detail: `${trouble[0]}: ${trouble[1].text}` },
      postgres: this.#storeTrouble === null ? { status: 'ok' } : { status: 'down', detail: this.#storeTrouble },
    }
  }

  /** Reads a topic on and on. Resolves when everything that it held at the start has been given. */
  async #tail(
    topic: string,
    from: 'start' | ReadonlyMap<number, number>,
    give: (event: PanelEvent) => void,
    decode: Decode,
  ): Promise<void> {
    let caughtUp: () => void = () => undefined
    const done = new Promise<void>((resolve) => {
      caughtUp = resolve
      this.#stopped.signal.addEventListener('abort', () => resolve(), { once: true })
    })
    const take = (record: LogRecord) => {
      if (record.value === null) return
      const event = decode(record.value.toString('utf8'), record)
      if (event === null) this.#options.onRefused(topic)
      else if (event !== 'skip') give(event)
    }
    const handle = await this.#again(
      topic,
      (error) => this.#logFailed(topic, error, Number.POSITIVE_INFINITY),
      () =>
        this.#options.log.tailTopic({
          topic,
          from,
          ...(topic === TOPICS.live.name ? LIVE_FETCH : {}),
          onBatch: (records) => {
            this.#logTrouble.delete(topic)
            records.forEach(take)
          },
          onCaughtUp: () => caughtUp(),
          onTrouble: (error) => this.#logFailed(topic, error, TROUBLE_OVER_MS),
          onOtherLog: (partition, wanted, end) =>
            this.#options.onTrouble(
              new Error(`partition ${partition} ends at ${end}, before ${wanted}, which the store has read: it is another log`),
              `reading ${topic} from its start`,
            ),
          onError: (error) => this.#options.onFatal(error),
        }),
    )
    if (handle === null) return
    if (this.#stopped.signal.aborted) return handle.close()
    this.#logTrouble.delete(topic)
    this.#tails.push(handle)
    await done
  }

  /** Tries until it goes well; null when the panel stops first. */
  async #again<Result>(what: string, failed: (error: unknown) => void, attempt: () => Promise<Result>): Promise<Result | null> {
    for (let told = false; !this.#stopped.signal.aborted; told = true) {
      try {
        return await attempt()
      } catch (error) {
        failed(error)
        if (!told) this.#options.onTrouble(error, `waiting for ${what}`)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
    return null
  }

  async #readRegister(give: (event: PanelEvent) => void): Promise<void> {
    if (this.#readingRegister) return
    this.#readingRegister = true
    try {
      const { depots, registered } = await this.#options.serving.readRegister(EVERYTHING)
      this.#storeTrouble = null
      give({ kind: 'register', depots, registered })
    } catch (error) {
      this.#storeFailed(error)
    } finally {
      this.#readingRegister = false
    }
  }

  #storeFailed(error: unknown): void {
    this.#storeTrouble = textOf(error)
  }

  #logFailed(topic: string, error: unknown, forMs: number): void {
    this.#logTrouble.set(topic, { text: textOf(error), untilMs: performance.now() + forMs })
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
