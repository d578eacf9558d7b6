// What happened to other people's live maps, as small tests; each is named by its row of the collection of field reports. D03 is in test/browser,
// D10 in test/laws, where the points of a wrong clock are refused.
import { EVERYTHING, type PanelDelta, type PanelSnapshot } from '@km0/contracts'
import { Registry } from '@km0/runtime'
import { io } from 'socket.io-client'
import { describe, expect, it } from 'vitest'
import { applyDelta, modelOf, type PanelModel, platformNowMs } from './features/feed/panel-model.ts'
import { prepareFeed } from './features/feed/prepare-feed.ts'
import { Motion } from './features/map/motion.ts'
import { overlaySources } from './features/map/overlay.ts'
import { prepareMarkers } from './features/map/prepare-markers.ts'
import { extendTrail } from './features/map/prepare-trail.ts'
import { prepareFleet } from './features/van/prepare-fleet.ts'
import { MaskingState } from './server/masking/masking-state.ts'
import type { PanelEvent } from './server/panel-events.ts'
import { startPanelServer } from './server/panel-server.ts'
import type { PanelSource } from './server/panel-source.ts'
import { testSignIn } from './server/sign-in/sessions.testbench.ts'

const NOW = 1_789_380_000_000
const VANS = 140

let offset = 0
const point = (van: string, eventMs: number, lon = 2.8): PanelEvent => {
  offset += 1
  const value = {
    repartidor: van,
    lat: 42,
    lon,
    data_ms: eventMs,
    arribada_ms: eventMs,
    velocitat_mm_s: null,
    rumb_graus: null,
    dubtos: false,
    estat: 'en-moviment',
  }
  return { kind: 'point', source: { epoch: 1, partition: 0, offset }, value } as PanelEvent
}
const silence = (van: string, sinceMs: number): PanelEvent => {
  offset += 1
  const value = { tipus: 'senyal', repartidor: van, estat: 'sense-senyal', des_de_ms: sinceMs } as const
  return { kind: 'signal', source: { epoch: 1, partition: 0, offset }, value }
}
const beat = (ms: number): PanelEvent => {
  offset += 1
  const times = { marca_aigua_ms: ms - 45_000, progres_ms: ms, darrer_batec_ms: ms, darrer_registre_ms: ms }
  return { kind: 'mark', value: { particio: 0, offset, epoca: 1, ...times } } as PanelEvent
}
const newState = () => new MaskingState({ clock: 'machine', placeOf: () => null })
const names = Array.from({ length: VANS }, (_, n) => `furgoneta-${n}`)

/** What a browser with this model shows at `nowMs`. */
function fleetAt(model: PanelModel, nowMs: number) {
  const feed = prepareFeed({ feed: model.feed, points: model.points, connected: true, serverNowMs: model.serverNowMs, nowMs })
  return prepareFleet(model, feed, nowMs)
}

/** Gives what the test tells it to. */
class ToldSource implements PanelSource {
  give: (event: PanelEvent) => void = () => undefined
  async start(give: (event: PanelEvent) => void): Promise<void> {
    this.give = give
  }
  async stop(): Promise<void> {}
  async acknowledge(): Promise<boolean> {
    return true
  }
  async readTrail() {
    return []
  }
  async readOutages(_scope: unknown, fromMs: number, toMs: number) {
    return { fromMs, toMs, outages: [], silences: { counted: 0, overOutages: 0 } }
  }
  endOffsets() {
    return null
  }
  health() {
    return {}
  }
}

describe('the line to the browser', () => {
  it('D01: what happened while the socket was down is there with the next connect', async () => {
    const source = new ToldSource()
    const panel = await startPanelServer({
      signIn: testSignIn(),
      host: '127.0.0.1',
      port: 0,
      allowedNames: [],
      state: newState(),
      source,
      metrics: new Registry(),
      mapStyleUrl: null,
      pages: async () => async (_request, response) => void response.end(),
      onError: (error) => {
        throw error
      },
      machineNowMs: () => NOW,
    })
    const connect = async () => {
      const socket = io(`http://127.0.0.1:${panel.port}`, { transports: ['websocket'], reconnection: false, forceNew: true })
      const snapshot = await new Promise<PanelSnapshot>((resolve) => socket.once('snapshot', resolve))
      return { socket, snapshot }
    }
    try {
      for (const van of names) source.give(point(van, NOW - 60_000))
      const first = await connect()
      first.socket.disconnect()
      for (const van of names.slice(0, 20)) source.give(point(van, NOW, 2.9))
      source.give(silence('furgoneta-99', NOW - 200_000))
      const { socket, snapshot } = await connect()
      socket.disconnect()
      expect(snapshot.points.filter(({ lon }) => lon === 2.9)).toHaveLength(20)
      expect(snapshot.signals).toMatchObject([{ van: 'furgoneta-99', state: 'no-signal' }])
      expect(snapshot.sequence).toBeGreaterThanOrEqual(first.snapshot.sequence)
    } finally {
      await panel.close()
    }
  })

  it('D05: ten updates a second of every van are one row a van and second, and nothing grows with them', () => {
    const state = newState()
    const receive = (model: PanelModel | null, delta: PanelDelta) => (model === null ? null : applyDelta(model, delta, 0))
    state.takeChanges(NOW)
    let model: PanelModel | null = modelOf(state.snapshot(EVERYTHING, NOW), 0)
    const motion = new Motion()
    let deltas = 0
    for (let second = 1; second <= 60; second += 1) {
      for (let tenth = 0; tenth < 10; tenth += 1) {
        for (const van of names) state.apply(point(van, NOW + second * 1_000 + tenth * 100, 2.8 + (second * 10 + tenth) / 1e5))
      }
      const nowMs = NOW + second * 1_000
      const changes = state.takeChanges(nowMs)
      // Vans that were never heard before come with everything.
      if (changes.everything) {
        model = modelOf(state.snapshot(EVERYTHING, nowMs), 0)
        continue
      }
      const delta = state.deltaFor(EVERYTHING, changes)
      deltas += 1
      expect(delta.points).toHaveLength(VANS)
      model = receive(model, delta)
      expect(model?.points.size).toBe(VANS)
      if (model !== null) motion.setMarkers(prepareMarkers(fleetAt(model, nowMs)), nowMs, 0)
      expect(motion.frame(nowMs).markers).toHaveLength(VANS)
    }
    expect(deltas).toBeGreaterThan(50)
  })
})

describe('the map', () => {
  it('D06: a thousand rounds leave 140 features of one source: no element a van is made, let alone anew', () => {
    // One layer draws all vans out of one buffer; sources hold lines and texts.
    expect(Object.keys(overlaySources())).not.toContain('km0-vans')
    const state = newState()
    for (const van of names) state.apply(point(van, NOW))
    const fleet = fleetAt(modelOf(state.snapshot(EVERYTHING, NOW), 0), NOW)
    const motion = new Motion()
    for (let round = 0; round < 1_000; round += 1) {
      motion.setMarkers(
        prepareMarkers(fleet).map((marker) => ({ ...marker, lon: 2.8 + round / 1e6 })),
        round,
        0,
      )
      expect(motion.frame(round).markers).toHaveLength(VANS)
    }
    expect(motion.frame(1_000_000)).toMatchObject({ moving: false })
  })

  it('D11: a van that crosses 180 degrees is put there, not driven round the world', () => {
    const marker = { van: 'a', lat: 0, eventMs: 0, icon: 'moving' as const, headingDegrees: 0, label: 'a', age: '', level: 0 as const }
    const motion = new Motion()
    motion.setMarkers([{ ...marker, lon: 179.9 }], 0, 0)
    expect(motion.setMarkers([{ ...marker, lon: -179.9 }], 1_000, 0)).toBe(false)
    expect(motion.frame(1_000).markers[0]?.lon).toBe(-179.9)
    const trail = extendTrail({ van: 'a', points: [[179.9, 0, NOW]] }, { ...plainPoint('a', NOW + 1_000), lon: -179.9 })
    expect(trail.points.flat().every(Number.isFinite)).toBe(true)
  })
})

const plainPoint = (van: string, eventMs: number) => {
  const state = newState()
  state.apply(point(van, eventMs))
  const [found] = state.snapshot(EVERYTHING, eventMs).points
  if (found === undefined) throw new Error('a point that was applied is not shown')
  return found
}

describe('time and order', () => {
  it('D07: a tab that was hidden for 5 minutes tells the right silence at once: it is computed, not counted', () => {
    const state = newState()
    state.apply(point('a', NOW - 60_000))
    state.apply(beat(NOW))
    const model = modelOf(state.snapshot(EVERYTHING, NOW), 5_000)
    // This browser's clock is years off, and no tick was run meanwhile.
    expect(platformNowMs(model, 305_000)).toBe(NOW + 300_000)
    expect(
      fleetAt({ ...model, feed: { ...model.feed, state: 'live', noDataSinceMs: null } }, platformNowMs(model, 5_000))[0]?.silenceMs,
    ).toBe(60_000)
    expect(fleetAt(model, platformNowMs(model, 65_000))[0]?.silenceMs).toBe(120_000)
  })

  it('D08: an older point overwrites no newer one, neither in the server nor in the browser', () => {
    const state = newState()
    expect(state.apply(point('a', NOW + 100, 2.9))).toBe(true)
    expect(state.apply(point('a', NOW + 95, 2.1))).toBe(false)
    expect(state.snapshot(EVERYTHING, NOW).points[0]?.lon).toBe(2.9)
    const model = modelOf(state.snapshot(EVERYTHING, NOW), 0)
    const late = applyDelta(model, { sequence: model.sequence + 1, nowMs: NOW, points: [plainPoint('a', NOW + 95)] }, 0)
    expect(late?.points.get('a')?.lon).toBe(2.9)
  })

  it('D09: a van that is silent for 61 minutes is never drawn as live, and the age is there after a reload too', () => {
    const state = newState()
    state.apply(point('a', NOW - 61 * 60_000))
    state.apply(silence('a', NOW - 61 * 60_000))
    state.apply(beat(NOW))
    // A page that was just opened knows nothing but this snapshot.
    const fleet = fleetAt(modelOf(state.snapshot(EVERYTHING, NOW), 0), NOW)
    expect(fleet).toMatchObject([{ van: 'a', state: 'silent', silenceMs: 61 * 60_000 }])
    expect(prepareMarkers(fleet)).toMatchObject([{ icon: 'silent', age: '1 h', level: 2 }])
  })
})
