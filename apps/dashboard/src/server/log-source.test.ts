import { encodeSource, TOPICS } from '@km0/contracts'
import type { Serving, StoredPanel } from '@km0/serving'
import { type Log, type LogRecord, LogUnavailableError, type TailOptions } from '@km0/transport'
import { afterEach, describe, expect, it } from 'vitest'
import { LogSource } from './log-source.ts'
import type { PanelEvent } from './panel-events.ts'

const NOW = 1_789_380_000_000
const SOURCE = { epoch: 1, partition: 3, offset: 17 }

/** One reader of a topic: what it was opened with, and its hand-written records. */
class OpenTail {
  closed = false
  readonly options: TailOptions
  constructor(options: TailOptions) {
    this.options = options
  }
  async give(value: object | string | null, more: Partial<LogRecord> = {}): Promise<void> {
    const bytes = value === null ? null : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
    const record = { partition: 0, offset: 0, timestampMs: NOW, key: null, headers: encodeSource(SOURCE), value: bytes, ...more }
    await this.options.onBatch([record as LogRecord], record.partition)
  }
  async close(): Promise<void> {
    this.closed = true
  }
  caughtUp(): void {
    this.options.onCaughtUp?.()
  }
}

/** A log whose readers are played by the test; `away` makes it refuse. */
class PlayedLog {
  away = false
  attempts = 0
  readonly tails: OpenTail[] = []
  async tailTopic(options: TailOptions) {
    this.attempts += 1
    if (this.away) throw new LogUnavailableError('the broker is away')
    const tail = new OpenTail(options)
    this.tails.push(tail)
    return { nextOffsets: () => new Map(), close: () => tail.close() }
  }
  async of(topic: string): Promise<OpenTail> {
    const find = () => this.tails.find((tail) => tail.options.topic === topic)
    await until(`a reader of ${topic}`, () => find() !== undefined)
    return find() as OpenTail
  }
}

const STORED: StoredPanel = {
  depots: [{ id: 'girona', name: 'Girona', lat: 42, lon: 2.8, markets: [], shiftStart: null, shiftEnd: null }],
  registered: [],
  signals: [{ van: 'furgoneta-1', depotId: null, state: 'signal', sinceMs: NOW - 60_000 }],
  distances: [],
  acknowledgements: [],
  nextOffsets: new Map([
    [0, 40],
    [3, 12],
  ]),
} as StoredPanel

class PlayedStore {
  away = false
  reads = 0
  askedNowMs: number[] = []
  async readPanelSnapshot(_scope: unknown, { nowMs }: { nowMs: number }): Promise<StoredPanel> {
    this.reads += 1
    this.askedNowMs.push(nowMs)
    if (this.away) throw new Error('the store is away')
    return STORED
  }
  async readRegister() {
    return { depots: STORED.depots, registered: [] }
  }
  // Stored outages, where the panel asks for them.
  async readOutages() {
    return []
  }
}

async function until(what: string, condition: () => boolean, timeoutMs = 20_000): Promise<void> {
  const endMs = performance.now() + timeoutMs
  while (!condition()) {
    if (performance.now() > endMs) throw new Error(`waited in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const LIVE = {
  repartidor: 'furgoneta-1',
  lat: 41.98,
  lon: 2.82,
  data_ms: NOW - 1_000,
  arribada_ms: NOW,
  velocitat_mm_s: null,
  rumb_graus: null,
  dubtos: false,
  estat: 'aturada',
}
const MARK = {
  particio: 3,
  offset: 17,
  marca_aigua_ms: NOW - 45_000,
  progres_ms: NOW,
  darrer_batec_ms: NOW,
  darrer_registre_ms: NOW,
  epoca: 1,
}

describe('the source of the product', () => {
  let source: LogSource | undefined
  afterEach(() => source?.stop())

  function build() {
    const log = new PlayedLog()
    const store = new PlayedStore()
    const events: PanelEvent[] = []
    const trouble: string[] = []
    const refused: string[] = []
    const fatal: unknown[] = []
    let clockMs = NOW - 3_600_000
    source = new LogSource({
      serving: store as unknown as Serving,
      log: log as unknown as Log,
      nowMs: () => clockMs,
      onTrouble: (_error, what) => trouble.push(what),
      onRefused: (topic) => refused.push(topic),
      onFatal: (error) => fatal.push(error),
    })
    let isStarted = false
    const started = source
      .start((event) => events.push(event))
      .then(() => {
        isStarted = true
      })
    const setClock = (ms: number) => {
      clockMs = ms
    }
    return { source, log, store, events, trouble, refused, fatal, started, isStarted: () => isStarted, setClock }
  }
  /** Up to the reader of the results, everything before caught up. */
  async function open(parts: ReturnType<typeof build>) {
    const marks = await parts.log.of(TOPICS.marks.name)
    await marks.give(MARK)
    marks.caughtUp()
    const live = await parts.log.of(TOPICS.live.name)
    const results = await parts.log.of(TOPICS.panel.name)
    return { live, marks, results }
  }

  it('reads results from exactly where the store had read them, and live points and marks from their start', async () => {
    const parts = build()
    const { live, marks, results } = await open(parts)
    expect(live.options.from).toBe('start')
    expect(marks.options.from).toBe('start')
    expect(results.options.from).toBe(STORED.nextOffsets)
    expect(parts.isStarted()).toBe(false)
    live.caughtUp()
    results.caughtUp()
    await parts.started
    expect(parts.events.filter(({ kind }) => kind === 'signal' || kind === 'register').map(({ kind }) => kind)).toEqual([
      'register',
      'signal',
    ])
  })

  it('asks the store only when the marks have said what time it is (play mode)', async () => {
    const parts = build()
    const marks = await parts.log.of(TOPICS.marks.name)
    expect(parts.store.reads).toBe(0)
    parts.setClock(NOW)
    marks.caughtUp()
    await parts.log.of(TOPICS.panel.name)
    expect(parts.store.askedNowMs).toEqual([NOW])
  })

  it('gives records as events with where they come from; sessions are passed over, what is none of ours is counted', async () => {
    const parts = build()
    const { live, results } = await open(parts)
    await live.give(LIVE)
    await results.give({ tipus: 'senyal', repartidor: 'furgoneta-2', estat: 'sense-senyal', des_de_ms: NOW })
    await results.give(
      { tipus: 'sessio', repartidor: 'furgoneta-2', inici_ms: NOW, fi_ms: NOW, posicions: 1 },
      { key: 'sessio|furgoneta-2|1' },
    )
    await results.give(null, { key: 'sessio|furgoneta-2|1' })
    for (const damaged of ['', '{', 'null', '[]', '{"tipus":"distancia"}', '\u0000']) await results.give(damaged)
    await live.give({ ...LIVE, lat: 91 })
    await live.give({ ...LIVE, repartidor: 'furgoneta-3' }, { headers: {} })
    const given = parts.events.filter((event) => event.kind === 'point' || (event.kind === 'signal' && event.source !== null))
    expect(given).toMatchObject([
      { kind: 'point', value: LIVE, source: SOURCE },
      { kind: 'signal', value: { repartidor: 'furgoneta-2', estat: 'sense-senyal' }, source: SOURCE },
      { kind: 'point', value: { repartidor: 'furgoneta-3' }, source: null },
    ])
    expect(parts.refused).toEqual([...Array(6).fill(TOPICS.panel.name), TOPICS.live.name])
    expect(parts.fatal).toEqual([])
  })

  it('waits for a log and a store that are away, says so once, and is down meanwhile', async () => {
    const parts = build()
    parts.store.away = true
    const marks = await parts.log.of(TOPICS.marks.name)
    marks.caughtUp()
    await until('the store is asked again', () => parts.store.reads > 1)
    expect(parts.trouble).toEqual(['waiting for the store'])
    expect(parts.source.health().postgres).toEqual({ status: 'down', detail: 'the store is away' })
    parts.store.away = false
    parts.log.away = true
    const before = parts.log.attempts
    await until('the log is asked again', () => parts.log.attempts > before + 1)
    expect(parts.trouble).toEqual(['waiting for the store', `waiting for ${TOPICS.panel.name}`])
    expect(parts.source.health().postgres?.status).toBe('ok')
    expect(parts.source.health().kafka?.detail).toContain('the broker is away')
    parts.log.away = false
    await parts.log.of(TOPICS.panel.name)
    await until('it is well', () => parts.source.health().kafka?.status === 'ok')
  })

  it('says so when the store has read more than the log holds', async () => {
    const parts = build()
    const { results } = await open(parts)
    results.options.onOtherLog?.(3, 12, 4)
    expect(parts.trouble).toEqual([`reading ${TOPICS.panel.name} from its start`])
  })

  it('is down while a reader is in trouble, and well with its next record', async () => {
    const parts = build()
    const { live } = await open(parts)
    live.options.onTrouble?.(new Error('a moment'))
    expect(parts.source.health().kafka).toEqual({ status: 'down', detail: `${TOPICS.live.name}: a moment` })
    await live.give(LIVE)
    expect(parts.source.health().kafka).toEqual({ status: 'ok' })
  })

  it('ends the process when a reader has stopped for good', async () => {
    const parts = build()
    const { live } = await open(parts)
    const broken = new Error('a bug')
    live.options.onError?.(broken)
    expect(parts.fatal).toEqual([broken])
  })

  it('closes every reader when it stops, also while it waits', async () => {
    const parts = build()
    const { live, marks, results } = await open(parts)
    await parts.source.stop()
    await parts.started
    expect([live.closed, marks.closed, results.closed]).toEqual([true, true, true])
    const young = build()
    await young.source.stop()
    await young.started
    expect(young.log.tails.map(({ closed }) => closed)).toEqual([true, true])
  })
})
