import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OutageCause, OutagesView, PanelSnapshot } from '@km0/contracts/panel'
import { repositoryRoot } from '@km0/infra/embedded/paths'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildPrograms } from '../../infra/start/build.mjs'
import { signalFamily } from '../chaos/run/processes.ts'
import { until } from '../chaos/stream-process.ts'
import { RunningPlatform } from './recovery/platform.ts'

// Outages of ours on the whole platform as `npm start` runs it: a part stands still (SIGSTOP) for longer than every time-out. What the panel says
// meanwhile, and what is stored afterwards.

const LOOK_EVERY_MS = 500
const ASK_WITHIN_MS = 5_000
/** A slow machine is no fault. */
const SAYS_WITHIN_MS = 240_000
const OVER_WITHIN_MS = 240_000
/** The panel has said it for so long before the part goes on. */
const SAID_FOR_MS = 15_000

interface Fault {
  readonly victim: string
  /** What the panel says while it stands still. */
  readonly says: OutageCause
  /** What it may say before and after: the parts notice one after the other. */
  readonly besides: readonly OutageCause[]
  /** Cause that is stored; null: nothing is stored. */
  readonly stored: OutageCause | null
}

const FAULTS: readonly Fault[] = [
  { victim: 'mqtt', says: 'broker', besides: ['catching-up'], stored: 'broker' },
  { victim: 'kafka', says: 'kafka', besides: ['catching-up', 'behind', 'stream'], stored: 'kafka' },
  { victim: 'bridge', says: 'bridge', besides: ['catching-up', 'broker'], stored: 'bridge' },
  { victim: 'stream-positions', says: 'stream', besides: ['behind', 'catching-up'], stored: null },
]

let platform: RunningPlatform
const ask = async <Answer>(path: string): Promise<Answer> => (await (await platform.askPanel(path, ASK_WITHIN_MS)).json()) as Answer
const panel = () => ask<PanelSnapshot>('api/panel')
const silentSince = (snapshot: PanelSnapshot, ms: number) =>
  snapshot.signals.filter(({ state, sinceMs }) => state === 'no-signal' && sinceMs > ms).map(({ van }) => van)

/** Stops what stands still from standing still, whatever happens. */
const frozen = new Set<number>()
const thaw = () => {
  for (const pid of frozen) signalFamily(pid, 'SIGCONT')
  frozen.clear()
}

describe('an outage of ours on the whole platform', () => {
  beforeAll(async () => {
    await buildPrograms(repositoryRoot())
    platform = await RunningPlatform.start(repositoryRoot())
    await until('the fleet lives in the present', async () => (await panel()).feed.state === 'live', SAYS_WITHIN_MS)
    await sleep(30_000)
  }, 400_000)
  afterAll(async () => {
    thaw()
    await platform?.close(process.env.KM0_KEEP === '1')
  })

  it.each(FAULTS)(
    '$victim stands still: the panel says $says, $stored is stored, and no van is called silent for it',
    async (fault) => {
      const { victim, says, besides, stored } = fault
      const before = await panel()
      const pid = await platform.pidOf(victim)
      if (pid === undefined) throw new Error(`${victim} does not run`)
      const said: { cause: OutageCause; fromMs: number; toMs: number; partitions: readonly number[] | null }[] = []
      const startMs = Date.now()
      let stateMs = startMs
      const look = async () => {
        await sleep(LOOK_EVERY_MS)
        const { feed } = await panel().catch(() => ({ feed: null }))
        if (feed === null) return null
        stateMs = Date.now()
        if (feed.trouble === null) return 'none'
        const { cause, partitions } = feed.trouble
        const last = said.at(-1)
        if (last?.cause === cause) last.toMs = stateMs
        else said.push({ cause, partitions, fromMs: stateMs, toMs: stateMs })
        return cause
      }
      frozen.add(pid)
      signalFamily(pid, 'SIGSTOP')
      let saidSinceMs: number | null = null
      await until(
        `the panel says ${says} for ${SAID_FOR_MS} ms`,
        async () => {
          if ((await look()) === says) saidSinceMs ??= stateMs
          return saidSinceMs !== null && stateMs - saidSinceMs > SAID_FOR_MS
        },
        SAYS_WITHIN_MS,
      )
      const during = await panel()
      thaw()
      const thawMs = Date.now()
      await until('the outage is over', async () => (await look()) === 'none', OVER_WITHIN_MS)
      const overMs = Date.now()
      await until('positions flow', async () => (await panel()).points.some(({ eventMs }) => eventMs > overMs), OVER_WITHIN_MS)
      const rows = async () =>
        (await ask<OutagesView>(`api/outages?from=${startMs - 60_000}&to=${Date.now()}`)).outages.filter(({ toMs }) => toMs > startMs)
      if (stored !== null) await until('it is stored', async () => (await rows()).length > 0, OVER_WITHIN_MS)
      const found = await rows()
      const seconds = (ms: number) => Math.round((ms - startMs) / 1000)
      console.log(
        [
          `SIGSTOP of ${victim} for ${seconds(thawMs)} s (load ${loadavg()[0]?.toFixed(1)}). The panel: ${said.map(({ cause, fromMs, toMs }) => `${cause} from ${seconds(fromMs)} to ${seconds(toMs)} s`).join(', ')}; over after ${seconds(overMs)} s.`,
          `  stored: ${found.map(({ cause, partitions, fromMs, toMs }) => `${cause}, ${partitions === null ? 'all partitions' : `partitions ${partitions.join(',')}`}, ${seconds(fromMs)} to ${seconds(toMs)} s`).join('; ') || 'nothing'}`,
        ].join('\n'),
      )
      // Once: it is the cause as soon as it is known, and not again after another.
      expect(said.filter(({ cause }) => cause === says)).toHaveLength(1)
      expect(said.filter(({ cause }) => cause !== says && !besides.includes(cause))).toEqual([])
      expect(found.map(({ cause, partitions }) => ({ cause, partitions }))).toEqual(
        stored === null ? [] : [{ cause: stored, partitions: null }],
      )
      // Who was silent before is; nobody becomes so while nobody is heard.
      expect(silentSince(during, startMs)).toEqual([])
      expect(during.signals.filter(({ state }) => state === 'no-signal').length).toBeLessThanOrEqual(
        before.signals.filter(({ state }) => state === 'no-signal').length + 1,
      )
    },
    900_000,
  )
})
