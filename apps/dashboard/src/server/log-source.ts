import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AcknowledgementView,
  decodeLiveValue,
  decodeMarkValue,
  decodePanelValue,
  decodeSource,
  EVERYTHING,
  TOPICS,
} from '@km0/contracts'
import type { Serving, StoredPanel } from '@km0/serving'
import type { Log, LogRecord, TailHandle } from '@km0/transport'
import type { PanelEvent } from './panel-events.ts'
import type { PanelSource, SourceHealth } from './panel-source.ts'

const RETRY_MS = 1_000
const PING_EVERY_MS = 5_000

export interface LogSourceOptions {
  readonly log: Log
  readonly serving: Serving
  /** The register is read again this often: an import shows without a restart. */
  readonly registerEveryMs: number
  readonly onTrouble: (error: Error, what: string) => void
  /** A record that holds none of the values of its topic. */
  readonly onUnreadable: (topic: string, record: LogRecord) => void
}

type Give = (event: PanelEvent) => void

/**
 * The panel's knowledge in the product: what Postgres holds, and the log from exactly there on. The snapshot and the offsets of
 * `repartiment.panell` that it covers are read in one transaction, so nothing is missed and nothing depends on when the panel starts.
 * Live points and marks are compacted topics, read from their start.
 */
export class LogSource implements PanelSource {
  readonly #options: LogSourceOptions
  readonly #stopping = new AbortController()
  readonly #tails: TailHandle[] = []
  readonly #timers: NodeJS.Timeout[] = []
  #postgres: SourceHealth = { status: 'degraded', detail: 'not asked yet' }
  readonly #kafka = new Map<string, SourceHealth>()
  #register = ''

  constructor(options: LogSourceOptions) {
    this.#options = options
  }

  async start(give: Give): Promise<void> {
    const stored = await this.#untilDone('postgres', () =>
      this.#options.serving.readPanelSnapshot(EVERYTHING, { nowMs: Date.now(), topic: TOPICS.panel.name }),
    )
    if (stored === null) return
    giveStored(stored, give)
    this.#register = registerText(stored)
    this.#every(this.#options.registerEveryMs, () => this.#refreshRegister(give))
    this.#every(PING_EVERY_MS, () => this.#ping())
    await Promise.all([
      this.#tail(TOPICS.panel.name, stored.nextOffsets, panelEvent, give),
      this.#tail(TOPICS.live.name, 'start', liveEvent, give),
      this.#tail(TOPICS.marks.name, 'start', markEvent, give),
    ])
  }

  /** Resolves when everything that the topic held has been given, or the source is stopped. */
  async #tail(
    topic: string,
    from: 'start' | ReadonlyMap<number, number>,
    decode: (text: string, record: LogRecord) => PanelEvent | null | 'other',
    give: Give,
  ): Promise<void> {
    let caughtUp = () => {}
    const read = new Promise<void>((resolve) => {
      caughtUp = resolve
    })
    this.#stopping.signal.addEventListener('abort', () => caughtUp(), { once: true })
    const handle = await this.#untilDone(topic, () =>
      this.#options.log.tailTopic({
        topic,
        from,
        onCaughtUp: () => caughtUp(),
        onBatch: (records) => {
          this.#kafka.set(topic, { status: 'ok' })
          for (const record of records) this.#take(topic, record, decode, give)
        },
        onTrouble: (error) => this.#trouble(topic, error),
        onError: (error) => this.#trouble(topic, error),
        signal: this.#stopping.signal,
      }),
    )
    if (handle === null) return
    this.#tails.push(handle)
    await read
  }

  #take(topic: string, record: LogRecord, decode: (text: string, record: LogRecord) => PanelEvent | null | 'other', give: Give): void {
    // A tombstone: compaction forgets the key, and so may whoever starts later.
    if (record.value === null) return
    const event = decode(record.value.toString('utf8'), record)
    if (event === null) this.#options.onUnreadable(topic, record)
    else if (event !== 'other') give(event)
  }

  /** Tries until it works; null when the source is stopped before. */
  async #untilDone<T>(what: string, work: () => Promise<T>): Promise<T | null> {
    while (!this.#stopping.signal.aborted) {
      try {
        const result = await work()
        if (what === 'postgres') this.#postgres = { status: 'ok' }
        else this.#kafka.set(what, { status: 'ok' })
        return result
      } catch (error) {
        this.#trouble(what, error as Error)
        await sleep(RETRY_MS, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
      }
    }
    return null
  }

  #trouble(what: string, error: Error): void {
    const health: SourceHealth = { status: 'down', detail: `${what}: ${error.message}` }
    if (what === 'postgres') this.#postgres = health
    else this.#kafka.set(what, health)
    this.#options.onTrouble(error, what)
  }

  #every(ms: number, work: () => Promise<void>): void {
    let busy = false
    const timer = setInterval(() => {
      if (busy) return
      busy = true
      work()
        .catch((error: unknown) => this.#trouble('postgres', error as Error))
        .finally(() => {
          busy = false
        })
    }, ms)
    this.#timers.push(timer)
  }

  async #ping(): Promise<void> {
    await this.#options.serving.ping()
    this.#postgres = { status: 'ok' }
  }

  async #refreshRegister(give: Give): Promise<void> {
    const register = await this.#options.serving.readRegister(EVERYTHING)
    const text = registerText(register)
    if (text === this.#register) return
    this.#register = text
    give({ kind: 'register', ...register })
  }

  async acknowledge(view: AcknowledgementView): Promise<void> {
    if (!(await this.#options.serving.acknowledge(EVERYTHING, view))) throw new Error(`the acknowledgement of ${view.van} was not stored`)
  }

  health(): Readonly<Record<string, SourceHealth>> {
    const worst = [...this.#kafka.values()].find((health) => health.status !== 'ok')
    return { postgres: this.#postgres, kafka: worst ?? { status: 'ok' } }
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#tails.map((tail) => tail.close()))
  }
}

function registerText({ depots, registered }: Pick<StoredPanel, 'depots' | 'registered'>): string {
  return JSON.stringify([depots, registered])
}

function giveStored(stored: StoredPanel, give: Give): void {
  give({ kind: 'register', depots: stored.depots, registered: stored.registered })
  for (const { van, state, sinceMs } of stored.signals) {
    const estat = state === 'signal' ? 'amb-senyal' : 'sense-senyal'
    give({ kind: 'signal', value: { tipus: 'senyal', repartidor: van, estat, des_de_ms: sinceMs }, source: null })
  }
  for (const row of stored.distances) {
    give({
      kind: 'distance',
      value: {
        tipus: 'distancia',
        repartidor: row.van,
        inici_ms: row.windowStartMs,
        fi_ms: row.windowEndMs,
        distancia_mm: row.distanceMm,
        posicions: row.positions,
        salts: row.jumps,
        desplacament_mm: row.displacementMm,
        ...(row.revision === 0 ? {} : { revisio: row.revision }),
      },
      source: null,
    })
  }
  for (const view of stored.acknowledgements) give({ kind: 'acknowledgement', view })
}

function panelEvent(text: string, record: LogRecord): PanelEvent | null | 'other' {
  // Sessions are for Postgres; the panel shows signal states.
  if (record.key?.startsWith('sessio|') === true) return 'other'
  const value = decodePanelValue(text)
  if (value === null) return null
  const source = decodeSource(record.headers)
  return value.tipus === 'distancia' ? { kind: 'distance', value, source } : { kind: 'signal', value, source }
}

function liveEvent(text: string, record: LogRecord): PanelEvent | null {
  const value = decodeLiveValue(text)
  return value === null ? null : { kind: 'point', value, source: decodeSource(record.headers) }
}

function markEvent(text: string): PanelEvent | null {
  const value = decodeMarkValue(text)
  return value === null ? null : { kind: 'mark', value }
}
