import { readFileSync } from 'node:fs'
import type { AcknowledgementView, Depot, OutagesView, OutageValue, RegisteredVan, Scope, SourcePosition, TrailPoint } from '@km0/contracts'
import type { PanelEvent } from '../../apps/dashboard/src/server/panel-events.ts'
import type { PanelSource, SourceHealth } from '../../apps/dashboard/src/server/panel-source.ts'
import { kilometresBetween, SimulatedVan, type Town } from './simulated-fleet.ts'

const PARTITIONS = 6
const PARTITION_NUMBERS = Array.from({ length: PARTITIONS }, (_, partition) => partition)
const STEP_MS = 5_000
const PAST_MS = 36 * 60_000
const MINUTE_MS = 60_000

export interface SimulatedOptions {
  readonly labelsFile: string
  readonly vans: number
  readonly nowMs?: () => number
  /** Minutes since the last point of vans that are silent from the start, by van number. */
  readonly silent?: Readonly<Record<number, number>>
  readonly doubtful?: readonly number[]
  /** What batteries hold, by van number; the others do not say. */
  readonly battery?: Readonly<Record<number, number>>
  readonly unregistered?: readonly number[]
  /** Registered, never heard. */
  readonly neverSeen?: readonly number[]
  /** Give no windows before `closeWindows`. */
  readonly withoutDistances?: boolean
  /** Give nothing but the register. */
  readonly empty?: boolean
  /** Every van sends every second, not every five. */
  readonly everySecond?: boolean
  /** Milliseconds of this machine between two looks at the clock; 1000 by default. */
  readonly tickMs?: number
}

/**
 * Feeds a panel with a made-up fleet, as the store and the log would: a past at the start, then points, windows, signal states and marks as
 * time goes on. A test makes vans silent, brings them back and stops the feed.
 */
export class SimulatedSource implements PanelSource {
  readonly #options: SimulatedOptions
  readonly #nowMs: () => number
  readonly #vans: SimulatedVan[]
  readonly #silentSinceMs = new Map<string, number>()
  readonly #stateSilent = new Set<string>()
  readonly stored: AcknowledgementView[] = []
  #offset = 1_000
  #give: (event: PanelEvent) => void = () => undefined
  #timer: NodeJS.Timeout | undefined
  #windowEndMs = 0
  /** Since when nothing comes from a partition. */
  readonly #deafSinceMs = new Map<number, number>()
  #windowsHeld: boolean
  #revision = 0
  refuseAcknowledgements = false
  kafkaIsAway = false
  /** The log is longer than what the job has read. */
  jobIsBehind = false

  constructor(options: SimulatedOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? Date.now
    this.#windowsHeld = options.withoutDistances === true
    const startMs = this.#nowMs()
    const towns = readTowns(options.labelsFile)
    const never = new Set(options.neverSeen ?? [])
    this.#vans = Array.from({ length: options.vans }, (_, n) => n + 1)
      .filter((number) => !never.has(number))
      .map((number) => new SimulatedVan(`furgoneta-${number}`, number * 7_919, towns, startMs - PAST_MS - 5 * MINUTE_MS))
    for (const [number, minutes] of Object.entries(options.silent ?? {})) {
      this.#silentSinceMs.set(`furgoneta-${number}`, startMs - minutes * MINUTE_MS)
    }
  }

  async start(give: (event: PanelEvent) => void): Promise<void> {
    this.#give = give
    this.#give(this.#register())
    if (this.#options.empty !== true) this.#givePast()
    this.#timer = setInterval(() => this.#tick(), this.#options.tickMs ?? 1_000)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
  }

  async acknowledge(_scope: Scope, view: AcknowledgementView): Promise<boolean> {
    if (this.refuseAcknowledgements) throw new Error('the store is away')
    this.stored.push(view)
    return true
  }

  async readTrail(): Promise<readonly TrailPoint[]> {
    return []
  }

  async readOutages(_scope: Scope, fromMs: number, toMs: number): Promise<OutagesView> {
    return { fromMs, toMs, outages: [], silences: { counted: 0, overOutages: 0 } }
  }

  endOffsets(): ReadonlyMap<number, number> | null {
    return new Map(PARTITION_NUMBERS.map((partition) => [partition, this.jobIsBehind ? Number.MAX_SAFE_INTEGER : 0]))
  }

  health(): Readonly<Record<string, SourceHealth>> {
    return { kafka: { status: this.kafkaIsAway ? 'down' : 'ok' }, postgres: { status: 'ok' } }
  }

  /** From now on (or from `agoMs` before) nothing comes from the van. */
  silence(van: string, agoMs = 0): void {
    this.#silentSinceMs.set(van, this.#nowMs() - agoMs)
  }

  /** The van is heard again. */
  wake(van: string): void {
    this.#silentSinceMs.delete(van)
    const found = this.#vans.find((one) => one.name === van)
    if (found !== undefined) this.#point(found, this.#nowMs())
  }

  /** Closes every window up to now, as if they had been held back until this moment. */
  closeWindows(): void {
    this.#windowsHeld = false
    const newestEndMs = Math.floor((this.#nowMs() - 50_000) / MINUTE_MS) * MINUTE_MS
    for (let endMs = newestEndMs - 34 * MINUTE_MS; endMs <= newestEndMs; endMs += MINUTE_MS) this.#windows(endMs)
    this.#windowEndMs = newestEndMs
  }

  /** The newest window of a van is computed again, with another distance. */
  revise(van: string, distanceMm: number): void {
    this.#revision += 1
    const value = {
      tipus: 'distancia' as const,
      repartidor: van,
      inici_ms: this.#windowEndMs - 5 * MINUTE_MS,
      fi_ms: this.#windowEndMs,
      distancia_mm: distanceMm,
      posicions: 60,
      salts: 0,
      desplacament_mm: 0,
      revisio: this.#revision,
    }
    this.#give({ kind: 'distance', source: this.#source(van), value })
  }

  /** No records and no heartbeats from these partitions (all) from now on, as if the bridge were away since `agoMs`. */
  stopFeed(agoMs = 0, partitions: readonly number[] = PARTITION_NUMBERS): void {
    for (const partition of partitions) {
      const sinceMs = this.#nowMs() - agoMs
      this.#deafSinceMs.set(partition, sinceMs)
      this.#mark(partition, sinceMs)
    }
  }

  /** Everything is heard again; `cause`: what the log says of the outage. */
  resumeFeed(cause?: OutageValue['causa']): void {
    const nowMs = this.#nowMs()
    for (const [partition, sinceMs] of this.#deafSinceMs) {
      this.#offset += 1
      const span = { particio: partition, inici_ms: sinceMs, fi_ms: nowMs }
      if (cause !== undefined)
        this.#give({ kind: 'outage', value: { tipus: 'tall', ...span, causa: cause, epoca: 1, offset: this.#offset } })
    }
    this.#deafSinceMs.clear()
  }

  #register(): PanelEvent {
    const depots: Depot[] = [
      ['girona', 'Girona', 41.96, 2.81],
      ['figueres', 'Figueres', 42.26, 2.95],
      ['olot', 'Olot', 42.18, 2.49],
      ['blanes', 'Blanes', 41.68, 2.79],
    ].map(([id, name, lat, lon]) => ({
      id: id as string,
      name: name as string,
      lat: lat as number,
      lon: lon as number,
      markets: [],
      shiftStart: null,
      shiftEnd: null,
    }))
    const unregistered = new Set(this.#options.unregistered ?? [])
    const registered: RegisteredVan[] = Array.from({ length: this.#options.vans }, (_, n) => n + 1)
      .filter((number) => !unregistered.has(number))
      .map((number) => ({
        van: `furgoneta-${number}`,
        name: `furgoneta-${number}`,
        plate: `${String((number * 7_717) % 10_000).padStart(4, '0')} ${'BCDFGHJKLM'[number % 10]}${'NPRSTVWXYZ'[(number * 3) % 10]}K`,
        depotId: depots[number % depots.length]?.id ?? null,
        inServiceFromMs: null,
        inServiceToMs: null,
      }))
    return { kind: 'register', depots, registered }
  }

  #givePast(): void {
    const nowMs = this.#nowMs()
    for (const van of this.#vans) {
      const lastMs = this.#silentSinceMs.get(van.name) ?? nowMs
      this.#signal(van.name, false, nowMs - PAST_MS)
      for (let timeMs = nowMs - 16 * MINUTE_MS; timeMs <= lastMs; timeMs += STEP_MS) this.#point(van, timeMs)
      if (lastMs <= nowMs - 16 * MINUTE_MS) this.#point(van, lastMs)
    }
    const newestEndMs = Math.floor((nowMs - 50_000) / MINUTE_MS) * MINUTE_MS
    for (let endMs = newestEndMs - 34 * MINUTE_MS; endMs <= newestEndMs; endMs += MINUTE_MS) this.#windows(endMs)
    this.#windowEndMs = newestEndMs
    this.#tick()
  }

  #tick(): void {
    if (this.#options.empty === true) return
    const nowMs = this.#nowMs()
    const second = Math.floor(nowMs / 1_000)
    this.#vans.forEach((van, index) => {
      if (this.#deafSinceMs.has(numberOf(van.name) % PARTITIONS)) return
      const silentMs = this.#silentSinceMs.get(van.name)
      if (silentMs === undefined) {
        if (this.#stateSilent.has(van.name)) this.#signal(van.name, false, nowMs)
        if (this.#options.everySecond === true || (second + index) % 5 === 0) this.#point(van, nowMs)
      } else if (!this.#stateSilent.has(van.name) && nowMs - silentMs > 228_000) this.#signal(van.name, true, silentMs)
    })
    for (const partition of PARTITION_NUMBERS) if (!this.#deafSinceMs.has(partition)) this.#mark(partition, nowMs - (nowMs % 10_000))
    if (this.#deafSinceMs.size === PARTITIONS) return
    while (this.#windowEndMs > 0 && this.#windowEndMs + MINUTE_MS + 50_000 <= nowMs) {
      this.#windowEndMs += MINUTE_MS
      this.#windows(this.#windowEndMs)
    }
  }

  #point(van: SimulatedVan, timeMs: number): void {
    const place = van.at(timeMs)
    const doubtful = (this.#options.doubtful ?? []).includes(numberOf(van.name))
    this.#give({
      kind: 'point',
      source: this.#source(van.name),
      batteryPercent: this.#options.battery?.[numberOf(van.name)] ?? null,
      value: {
        repartidor: van.name,
        lat: place.lat,
        lon: place.lon,
        data_ms: Math.round(timeMs),
        arribada_ms: Math.round(timeMs) + 900,
        velocitat_mm_s: place.speedMmPerS,
        rumb_graus: place.headingDegrees,
        dubtos: doubtful,
        estat: place.stopped ? 'aturada' : 'en-moviment',
      },
    })
  }

  #windows(endMs: number): void {
    if (this.#windowsHeld) return
    for (const van of this.#vans) {
      const lastMs = Math.min(endMs, this.#silentSinceMs.get(van.name) ?? endMs)
      const startMs = endMs - 5 * MINUTE_MS
      if (lastMs <= startMs) continue
      let km = 0
      for (let timeMs = startMs; timeMs < lastMs; timeMs += STEP_MS) km += kilometresBetween(van.at(timeMs), van.at(timeMs + STEP_MS))
      const displacementKm = kilometresBetween(van.at(startMs), van.at(lastMs))
      this.#give({
        kind: 'distance',
        source: this.#source(van.name),
        value: {
          tipus: 'distancia',
          repartidor: van.name,
          inici_ms: startMs,
          fi_ms: endMs,
          distancia_mm: Math.round(km * 1e6),
          posicions: Math.round((lastMs - startMs) / STEP_MS),
          salts: 0,
          desplacament_mm: Math.round(displacementKm * 1e6),
        },
      })
    }
  }

  #signal(van: string, silent: boolean, sinceMs: number): void {
    if (silent) this.#stateSilent.add(van)
    else this.#stateSilent.delete(van)
    const estat = silent ? 'sense-senyal' : 'amb-senyal'
    this.#give({
      kind: 'signal',
      source: this.#source(van),
      value: { tipus: 'senyal', repartidor: van, estat, des_de_ms: Math.round(sinceMs) },
    })
  }

  #mark(partition: number, heartbeatMs: number): void {
    this.#offset += 1
    const value = {
      particio: partition,
      offset: this.#offset,
      marca_aigua_ms: heartbeatMs - 45_000,
      progres_ms: heartbeatMs,
      darrer_batec_ms: heartbeatMs,
      darrer_registre_ms: heartbeatMs,
      epoca: 1,
    }
    this.#give({ kind: 'mark', value })
  }

  #source(van: string): SourcePosition {
    this.#offset += 1
    return { epoch: 1, partition: numberOf(van) % PARTITIONS, offset: this.#offset }
  }
}

function numberOf(van: string): number {
  return Number(van.slice('furgoneta-'.length))
}

function readTowns(file: string): Town[] {
  const { features } = JSON.parse(readFileSync(file, 'utf8')) as {
    features: { properties: { kind: string; name: string; population?: number }; geometry: { coordinates: [number, number] } }[]
  }
  return features
    .filter(({ properties }) => properties.kind === 'home' && (properties.population ?? 0) > 1_200)
    .map(({ properties, geometry }) => ({ name: properties.name, lon: geometry.coordinates[0], lat: geometry.coordinates[1] }))
}
