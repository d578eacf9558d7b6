import { DEFAULT_POSITIONS_SETTINGS, type Emission, type PositionsSettings } from '@km0/contracts'
import { createPositionsHost } from '@km0/pipelines'
import { repartitionPositions } from '@km0/pipelines/positions/repartition'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Fix, fixes } from './arbitrary-log.ts'
import { feed, lastRows, MINUTE, SECOND, T0 } from './driver.ts'

/** A point on its way, with the old partitions that get a heartbeat right after it. */
interface Arrival extends Fix {
  readonly arrivalMs: number
  readonly beats: readonly boolean[]
}

const hash = (van: string) => [...van].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0)

/** A log of several partitions: each van's points go to one of them, heartbeats to some. */
class Run {
  readonly emissions: Emission[] = []
  readonly settings: PositionsSettings
  readonly #hosts: ReturnType<typeof createPositionsHost>[]
  readonly #offsets: number[]

  constructor(settings: PositionsSettings, states: readonly string[] | number) {
    this.settings = settings
    const count = typeof states === 'number' ? states : states.length
    this.#offsets = new Array<number>(count).fill(0)
    this.#hosts = Array.from({ length: count }, (_, partition) => {
      const host = createPositionsHost(settings)
      if (typeof states !== 'number') host.restore(states[partition] ?? '')
      return host
    })
  }

  get partitions(): number {
    return this.#hosts.length
  }

  hear({ van, eventMs, lat, lon, arrivalMs, beats }: Arrival): void {
    this.#write(hash(van) % this.partitions, arrivalMs, { repartidor: van, lat, lon, data_ms: eventMs })
    for (let partition = 0; partition < this.partitions; partition += 1) {
      if (beats[partition % beats.length] === true) this.beat(partition, arrivalMs)
    }
  }

  beat(partition: number, atMs: number): void {
    this.#write(partition, atMs, { tipus: 'batec', data_ms: atMs })
  }

  #write(partition: number, timestampMs: number, value: object): void {
    const host = this.#hosts[partition]!
    const offset = this.#offsets[partition]!
    this.#offsets[partition] = offset + 1
    feed(host, { partition, offset, timestampMs, text: JSON.stringify(value) })
    this.emissions.push(...host.drain())
  }

  closeAll(atMs: number): void {
    for (let partition = 0; partition < this.partitions; partition += 1) this.beat(partition, atMs)
  }

  /** Into so many partitions; the emissions of before stay with this run. */
  restoredInto(count: number): Run {
    const states = this.#hosts.map((host) => host.snapshot())
    return new Run(
      this.settings,
      repartitionPositions(states, count, (van) => hash(van) % count),
    )
  }

  watermarks(): number[] {
    return this.#hosts.map((host, partition) => host.watermarkMs(partition))
  }
}

const partitionCount = fc.integer({ min: 1, max: 5 })
const beats = fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 40 })

function arriving(points: readonly Fix[], delaysMs: readonly number[], hearts: readonly (readonly boolean[])[]): Arrival[] {
  const all = points.map((fix, i) => ({
    ...fix,
    arrivalMs: fix.eventMs + (delaysMs[i % delaysMs.length] ?? 0),
    beats: hearts[i % hearts.length] ?? [],
  }))
  return all.sort((a, b) => a.arrivalMs - b.arrivalMs)
}

/** The same arrivals, without a stop and with one after `cut` of them. */
function bothRuns(arrivals: readonly Arrival[], cut: number, from: number, into: number, settings: Partial<PositionsSettings> = {}) {
  const rules = { ...DEFAULT_POSITIONS_SETTINGS, livePoints: true, ...settings }
  const straight = new Run(rules, from)
  for (const arrival of arrivals) straight.hear(arrival)
  const before = new Run(rules, from)
  for (const arrival of arrivals.slice(0, cut)) before.hear(arrival)
  const after = before.restoredInto(into)
  const watermarks = { before: before.watermarks(), after: after.watermarks() }
  for (const arrival of arrivals.slice(cut)) after.hear(arrival)
  const endMs = (arrivals.at(-1)?.arrivalMs ?? 0) + 60 * MINUTE
  straight.closeAll(endMs)
  after.closeAll(endMs)
  return { straight: straight.emissions, stopped: [...before.emissions, ...after.emissions], watermarks }
}

const isResult = (key: string | null) => key !== null && /^(distancia|sessio)\|/.test(key)
const results = (emissions: readonly Emission[]) =>
  emissions.filter(({ output, key }) => output === 'panell' && isResult(key)).map(({ key, value }) => `${key} ${value}`)
const vanOf = (value: string) => (JSON.parse(value) as { repartidor: string }).repartidor

describe('a savepoint that is restored into another number of partitions', () => {
  const delays = fc.array(fc.integer({ min: 0, max: 45 * SECOND }), { minLength: 1, maxLength: 40 })

  it('leaves the rows of a run that never stopped, each told once, when no point is late', () => {
    fc.assert(
      fc.property(fixes, delays, beats, fc.nat(), partitionCount, partitionCount, (points, delaysMs, hearts, at, from, into) => {
        const arrivals = arriving(points, delaysMs, hearts)
        const { straight, stopped } = bothRuns(arrivals, at % (arrivals.length + 1), from, into)
        expect(stopped.filter(({ output }) => output === 'tardans')).toEqual([])
        expect(results(stopped).sort()).toEqual(results(straight).sort())
        // Signal states in between depend on which came first, a point or the watermark: the last one does not.
        const last = (emissions: readonly Emission[]) => [...lastRows(emissions), ...lastRows(emissions, 'viu')].sort()
        expect(last(stopped)).toEqual(last(straight))
      }),
      { numRuns: 300 },
    )
  })

  it('begins with the least watermark of the old partitions in each of the new', () => {
    fc.assert(
      fc.property(fixes, beats, fc.nat(), partitionCount, partitionCount, (points, hearts, at, from, into) => {
        const arrivals = arriving(points, [0], hearts)
        const { watermarks } = bothRuns(arrivals, at % (arrivals.length + 1), from, into)
        expect(watermarks.after).toEqual(new Array(into).fill(Math.min(...watermarks.before)))
      }),
      { numRuns: 50 },
    )
  })

  it('leaves the rows of every van of which no point is late in either, whatever else is late and allowed to be', () => {
    const anyDelays = fc.array(fc.integer({ min: 0, max: 8 * MINUTE }), { minLength: 1, maxLength: 40 })
    const lateness = fc.constantFrom(0, 2 * MINUTE, 10 * MINUTE)
    let compared = 0
    fc.assert(
      fc.property(
        fixes,
        anyDelays,
        beats,
        fc.nat(),
        partitionCount,
        partitionCount,
        lateness,
        (points, delaysMs, hearts, at, from, into, allowedLatenessMs) => {
          const arrivals = arriving(points, delaysMs, hearts)
          const { straight, stopped } = bothRuns(arrivals, at % (arrivals.length + 1), from, into, { allowedLatenessMs })
          const late = new Set([...straight, ...stopped].filter(({ output }) => output === 'tardans').map(({ key }) => key))
          const sound = (emissions: readonly Emission[]) =>
            [...lastRows(emissions)]
              .filter(([key, value]) => isResult(key) && !late.has(vanOf(value)))
              .map(([key, value]) => `${key} ${value.replace(/,"revisio":\d+}/, '}')}`)
              .sort()
          expect(sound(stopped)).toEqual(sound(straight))
          compared += sound(straight).length
        },
      ),
      { numRuns: 300 },
    )
    expect(compared).toBeGreaterThan(1_000)
  })

  it('takes no state with a van in two partitions, and names it', () => {
    const rules = DEFAULT_POSITIONS_SETTINGS
    const state = (partition: number) => {
      const host = createPositionsHost(rules)
      feed(host, { partition, offset: 0, timestampMs: T0, text: JSON.stringify({ repartidor: 'v', lat: 41, lon: 2, data_ms: T0 }) })
      return host.snapshot()
    }
    expect(() => repartitionPositions([state(0), state(1)], 3, () => 0)).toThrow(/v has state in the partitions 0 and 1/)
  })
})
