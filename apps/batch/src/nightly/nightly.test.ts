import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type BackfillRequest, madridDay, type NightFigures, type NightRun } from '@km0/contracts'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { dueDays, failedChecks, newsOf, nightRequests } from './night-rules.ts'
import { type NightPlatform, stepNight } from './night-step.ts'
import { notify } from './notify.ts'

const HOUR = 3_600_000
const DAY = Date.UTC(2026, 8, 13, 22)
const SETTINGS = { settleMs: HOUR / 2, maxChange: 0.2, maxMissing: 0.01 }
const run: NightRun = {
  dayMs: DAY,
  dayEndMs: DAY + 24 * HOUR,
  dueMs: DAY + 27.5 * HOUR,
  state: 'waiting',
  tasks: [],
  detail: '',
  notifiedOf: '',
  updatedAtMs: 0,
}
const alright: NightFigures = { servedRows: 1_000, freshRows: 1_001, servedMm: 5_000, freshMm: 5_100, lostVans: [] }

describe('days that are due', () => {
  it('are those of the last seven whose time has come, oldest first', () => {
    const days = dueDays(DAY + 27.5 * HOUR, 210, 7)
    expect(days).toHaveLength(7)
    expect(days.at(-1)).toEqual({ dayMs: DAY, dayEndMs: DAY + 24 * HOUR, dueMs: DAY + 27.5 * HOUR })
    expect(dueDays(DAY + 27.5 * HOUR - 1, 210, 7).at(-1)?.dayEndMs).toBe(DAY)
  })

  it('a night is due once, whenever one looks, and none is skipped by a change of the clocks', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2028, 0, 1) }),
        fc.integer({ min: 0, max: 1439 }),
        (nowMs, minutes) => {
          const days = dueDays(nowMs, minutes, 7)
          for (const [index, day] of days.entries()) {
            expect(madridDay(day.dayMs)).toEqual({ startMs: day.dayMs, endMs: day.dayEndMs })
            if (index > 0) expect(day.dayMs).toBe(days[index - 1]?.dayEndMs)
            expect(day.dueMs).toBeGreaterThanOrEqual(day.dayEndMs)
          }
          expect(nowMs - (days.at(-1)?.dueMs ?? 0)).toBeLessThan(26 * HOUR)
        },
      ),
    )
  })
})

describe('what a night computes', () => {
  it('its day, and the dirty hours before it, cut where the day begins', () => {
    const dirty = (fromMs: number, toMs: number): BackfillRequest => ({ pipeline: 'positions', fromMs, toMs, owners: ['a'] })
    const requests = nightRequests(run, [
      dirty(DAY - 5 * HOUR, DAY - 3 * HOUR),
      dirty(DAY - HOUR, DAY + HOUR),
      dirty(DAY + HOUR, DAY + 2 * HOUR),
    ])
    expect(requests.map(({ pipeline, fromMs, toMs }) => [pipeline, (fromMs - DAY) / HOUR, (toMs - DAY) / HOUR])).toEqual([
      ['positions', 0, 24],
      ['stock', 0, 24],
      ['positions', -5, -3],
      ['positions', -1, 0],
    ])
  })
})

describe('checks', () => {
  it.each<[string, Partial<NightFigures>, RegExp | null]>([
    ['pass', {}, null],
    ['fewer rows', { freshRows: 980 }, /980 windows, served are 1000/],
    ['a few rows less', { freshRows: 995 }, null],
    ['a van lost', { lostVans: ['furgoneta-9'] }, /registered vans are lost: furgoneta-9/],
    ['a third more', { freshMm: 6_700 }, /changes by 34.0 %, more than 20.0 %/],
    ['a third less', { freshMm: 3_300 }, /changes by 34.0 %/],
    ['nothing was served', { servedRows: 0, servedMm: 0, freshMm: 10 }, null],
  ])('%s', (_name, changes, expected) => {
    const failed = failedChecks({ ...alright, ...changes }, SETTINGS)
    if (expected === null) expect(failed).toEqual([])
    else expect(failed.join()).toMatch(expected)
  })
})

describe('a night', () => {
  class Platform implements NightPlatform {
    finalMs: number | null = DAY + 25 * HOUR
    owners = 3
    refused: string | null = null
    figures_: NightFigures = alright
    states = new Map<number, 'running' | 'ready' | 'failed'>()
    readonly published: number[] = []
    readonly planned: BackfillRequest[] = []
    dirtyRequests: BackfillRequest[] = []
    preview = async () => ({ finalMs: this.finalMs, owners: this.owners, refusal: this.refused })
    plan = async (request: BackfillRequest) => {
      this.planned.push(request)
      if (!this.states.has(this.planned.length)) this.states.set(this.planned.length, 'running')
      return this.planned.length
    }
    read = async (version: number) => ({
      state: this.states.get(version) ?? 'running',
      error: this.states.get(version) === 'failed' ? 'the disk is full' : null,
      hours: 24,
      servedHours: this.published.includes(version) ? 24 : 0,
      rows: 1,
    })
    figures = async () => this.figures_
    publish = async (version: number) => {
      this.published.push(version)
    }
    dirty = async () => this.dirtyRequests
    refusal = (error: unknown) => (error instanceof RangeError ? error.message : null)
  }
  const steps = async (platform: NightPlatform, count: number, from: NightRun = run) => {
    let now = from
    for (let step = 0; step < count; step += 1) now = await stepNight(now, platform, SETTINGS)
    return now
  }

  it('waits until the lake has passed the end of the day by half an hour, and says so', async () => {
    const platform = new Platform()
    platform.finalMs = DAY + 24.4 * HOUR
    expect(await steps(platform, 1)).toMatchObject({
      state: 'waiting',
      detail: expect.stringMatching(/final up to 2026-09-14T22:24.*wanted is 2026-09-14T22:30/),
    })
    platform.finalMs = null
    expect(await steps(platform, 1)).toMatchObject({ state: 'waiting', detail: expect.stringContaining('holds nothing yet') })
  })

  it('plans, waits for the workers, publishes what passes', async () => {
    const platform = new Platform()
    const begun = await steps(platform, 2)
    expect(begun).toMatchObject({ state: 'running', tasks: [{ version: 1 }, { version: 2 }] })
    expect(await steps(platform, 3, begun)).toMatchObject({ state: 'running' })
    platform.states.set(1, 'ready').set(2, 'ready')
    const ended = await steps(platform, 1, begun)
    expect(ended).toMatchObject({ state: 'published', detail: '' })
    expect(platform.published).toEqual([1, 2])
    expect(await steps(platform, 2, ended)).toEqual(ended)
    expect(platform.planned).toHaveLength(2)
  })

  it('holds what fails a check, publishes the rest, and names why', async () => {
    const platform = new Platform()
    platform.states.set(1, 'ready').set(2, 'ready')
    platform.figures_ = { ...alright, lostVans: ['furgoneta-9'] }
    expect(await steps(platform, 3)).toMatchObject({ state: 'held', detail: 'version 1: registered vans are lost: furgoneta-9' })
    expect(platform.published).toEqual([2])
  })

  it('a backfill that fails is told; a refusal to publish holds it; a store that is away is tried again', async () => {
    const platform = new Platform()
    platform.states.set(1, 'failed').set(2, 'ready')
    expect(await steps(platform, 3)).toMatchObject({ state: 'failed', detail: 'version 1: the disk is full' })
    const refusing = new Platform()
    refusing.states.set(1, 'ready').set(2, 'ready')
    refusing.publish = async () => {
      throw new RangeError('another one was published meanwhile')
    }
    expect(await steps(refusing, 3)).toMatchObject({
      state: 'held',
      detail: expect.stringContaining('another one was published meanwhile'),
    })
    const away = new Platform()
    away.states.set(1, 'ready').set(2, 'ready')
    away.publish = async () => {
      throw new Error('connection refused')
    }
    await expect(steps(away, 3)).rejects.toThrow('connection refused')
  })

  it('with nothing there does nothing', async () => {
    const platform = new Platform()
    platform.owners = 0
    expect(await steps(platform, 2)).toMatchObject({ state: 'nothing' })
    expect(platform.planned).toEqual([])
  })

  it('tells a person of what is held or failed, and of a wait of two hours', () => {
    expect(newsOf({ ...run, state: 'held' }, 0, 2 * HOUR)).toBe('held')
    expect(newsOf({ ...run, state: 'failed' }, 0, 2 * HOUR)).toBe('failed')
    expect(newsOf(run, run.dueMs + 2 * HOUR, 2 * HOUR)).toBe('')
    expect(newsOf(run, run.dueMs + 2 * HOUR + 1, 2 * HOUR)).toBe('late')
    expect(newsOf({ ...run, state: 'published' }, run.dueMs + 9 * HOUR, 2 * HOUR)).toBe('')
  })
})

describe('the webhook', () => {
  const servers: ReturnType<typeof createServer>[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.close()
  })
  const hook = async (status: number) => {
    const bodies: string[] = []
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += chunk))
      request.on('end', () => {
        bodies.push(body)
        response.writeHead(status).end()
      })
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, bodies }
  }

  it('gets the day, what is wrong and the versions', async () => {
    const { url, bodies } = await hook(204)
    const task = { request: nightRequests(run, [])[0] as BackfillRequest, version: 7, outcome: 'held' as const, detail: 'x' }
    await notify(url, 'held', { ...run, state: 'held', detail: 'version 7: x', tasks: [task] })
    expect(JSON.parse(bodies[0] ?? '')).toEqual({
      kind: 'nightly',
      news: 'held',
      day: '2026-09-14',
      state: 'held',
      detail: 'version 7: x',
      versions: [7],
    })
  })

  it('that does not take it is tried again later', async () => {
    const { url } = await hook(500)
    await expect(notify(url, 'late', run)).rejects.toThrow('answered 500')
  })
})
