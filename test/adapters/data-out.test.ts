import { EVERYTHING, type PlatformEvent, type Scope, TOPICS } from '@km0/contracts'
import { type DataOut, openDataOut, openServing, openStockServing, type Serving, type StockServing } from '@km0/serving'
import { startServices, type TestServices } from '@km0/testkit/services'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MINUTE, NOW, outage, PanelWriter, record, signal } from './serving-rows.ts'

/** Events are told in the transaction that finds them, each once; deliveries are made of them, each once. */

let services: TestServices<{ postgres: true; redis: true }>
let serving: Serving
let stock: StockServing
let out: DataOut
let pool: pg.Pool
let panel: PanelWriter
let marksOffset = 0

const GIRONA: Scope = { kind: 'limited', depots: ['girona'], markets: [] }
const MARTA = { id: 'user:marta', name: 'Marta', roles: ['administrator'] }
const SILENT_MS = NOW - 30 * MINUTE

beforeAll(async () => {
  services = await startServices({ postgres: true, redis: true })
  const options = { databaseUrl: services.postgres.url, applicationName: 'test' }
  serving = openServing(options)
  stock = openStockServing(options)
  out = openDataOut(options)
  pool = new pg.Pool({ connectionString: services.postgres.url, max: 1 })
  // The server stops before the pool's idle connection has.
  pool.on('error', () => undefined)
  await serving.migrate()
  await pool.query(
    `insert into km0.sign_in_user (id, name, email, role, all_vans) values ('user:marta', 'Marta', 'marta@example.cat', 'administrator', true)`,
  )
})
afterAll(async () => {
  await Promise.all([serving?.close(), stock?.close(), out?.close(), pool?.end()])
  await services?.stop()
})
beforeEach(async () => {
  await pool.query(
    `truncate km0.event, km0.delivery, km0.subscription, km0.silence_watch, km0.no_signal_episode, km0.signal_state, km0.partition_mark,
       km0.outage, km0.late_point, km0.serving_offset, km0.live_point, km0.van, km0.depot, km0.stock_episode, km0.stock_notice, km0.mute cascade`,
  )
  panel = new PanelWriter(serving)
  marksOffset = 0
  writtenAtMs = NOW
})

const mark = (watermarkMs: number, more: Partial<{ recordMs: number; heartbeatMs: number; partition: number }> = {}) => {
  const { partition = 0, recordMs = watermarkMs + 45_000, heartbeatMs = recordMs } = more
  const value = {
    ...{ particio: partition, offset: marksOffset, marca_aigua_ms: watermarkMs, progres_ms: watermarkMs + 45_000 },
    ...{ darrer_batec_ms: heartbeatMs, darrer_registre_ms: recordMs, epoca: 1 },
  }
  return { key: String(partition), value }
}
let writtenAtMs = NOW
let silenceStepsMs: readonly [number, number, number] = [3 * MINUTE, 15 * MINUTE, 60 * MINUTE]
const applyMarks = (...marks: { key: string; value: object }[]) => {
  const records = marks.map(({ key, value }) => record(key, value, { offset: 0 }, marksOffset++))
  return serving.applyMarkBatch({
    ...{ topic: TOPICS.marks.name, partition: 0, nextOffset: marksOffset, clusterId: 'one', records, writtenAtMs, silenceStepsMs },
  })
}
const silent = (van: string, sinceMs = SILENT_MS, at = 10) => panel.apply([signal(van, 'sense-senyal', sinceMs), { offset: at }])
const back = (van: string, sinceMs: number, at = 20) => panel.apply([signal(van, 'amb-senyal', sinceMs), { offset: at }])
const depot = (id: string, markets: string[]) => ({ id, name: id, lat: 42, lon: 2, markets, shiftStart: null, shiftEnd: null })
const van = (name: string, depotId: string) => ({ van: name, name, plate: null, depotId, inServiceFromMs: null, inServiceToMs: null })
const told = async (scope: Scope = EVERYTHING) => (await out.readEvents(scope, { afterId: 0, limit: 100 })).map(({ key }) => key)

describe('silences', () => {
  it('are told at 3, 15 and 60 minutes of the watermark, each once, and the return', async () => {
    await silent('a')
    await applyMarks(mark(SILENT_MS + 3 * MINUTE - 1))
    expect(await told()).toEqual([])
    await applyMarks(mark(SILENT_MS + 3 * MINUTE))
    expect(await told()).toEqual([`no-signal/a/${SILENT_MS}/3`])
    await applyMarks(mark(SILENT_MS + 20 * MINUTE))
    await applyMarks(mark(SILENT_MS + 21 * MINUTE))
    await back('a', SILENT_MS + 25 * MINUTE)
    await applyMarks(mark(SILENT_MS + 70 * MINUTE))
    await applyMarks(mark(SILENT_MS + 80 * MINUTE))
    expect(await told()).toEqual([`no-signal/a/${SILENT_MS}/3`, `no-signal/a/${SILENT_MS}/15`, `returned/a/${SILENT_MS}`])
    const events = await out.readEvents(EVERYTHING, { afterId: 0, limit: 100 })
    expect(events[1]).toMatchObject({ kind: 'no-signal', van: 'a', stepMs: 15 * MINUTE, atMs: SILENT_MS + 15 * MINUTE, lat: null })
    expect(events[2]).toMatchObject({ kind: 'returned', endedMs: SILENT_MS + 25 * MINUTE })
    expect((await pool.query('select * from km0.silence_watch')).rows).toEqual([])
  })

  it('are told at other steps where the setting says so, beyond an hour too', async () => {
    silenceStepsMs = [5 * MINUTE, 20 * MINUTE, 90 * MINUTE]
    await silent('a')
    for (const minutes of [4, 6, 70, 89, 90, 91]) await applyMarks(mark(SILENT_MS + minutes * MINUTE))
    silenceStepsMs = [3 * MINUTE, 15 * MINUTE, 60 * MINUTE]
    expect(await told()).toEqual([5, 20, 90].map((minutes) => `no-signal/a/${SILENT_MS}/${minutes}`))
  })

  it('are not told when an outage of ours overlaps them, nor while heartbeats are held back', async () => {
    await silent('a')
    await applyMarks(mark(SILENT_MS + 4 * MINUTE, { recordMs: NOW, heartbeatMs: NOW - 61_000 }))
    expect(await told()).toEqual([])
    await applyMarks(outage(SILENT_MS + MINUTE, SILENT_MS + 5 * MINUTE), mark(SILENT_MS + 6 * MINUTE))
    await back('a', SILENT_MS + 7 * MINUTE)
    await applyMarks(mark(SILENT_MS + 70 * MINUTE))
    expect(await told()).toEqual([])
  })

  it('that late points correct are told so, once what was saved up has come, and again when more comes', async () => {
    let at = 0
    const late = (van: string, ...minutes: number[]) => {
      const records = minutes.map((minute) =>
        record(van, { motiu: 'tard', data_ms: SILENT_MS + minute * MINUTE, finestres_tancades: 5 }, { offset: 100 + at }, at++),
      )
      return serving.applyLateBatch({
        ...{ topic: TOPICS.late.name, partition: 0, nextOffset: at, clusterId: 'one', records, writtenAtMs },
      })
    }
    await silent('a')
    // Shorter than the first step: nobody was told, so there is nothing to correct.
    await silent('b', SILENT_MS, 11)
    await back('b', SILENT_MS + 2 * MINUTE, 12)
    await applyMarks(mark(SILENT_MS + 4 * MINUTE))
    await back('a', SILENT_MS + 22 * MINUTE)
    // One comes before the end of the silence is known.
    await late('a', 1)
    await applyMarks(mark(SILENT_MS + 23 * MINUTE))
    const before = [`no-signal/a/${SILENT_MS}/3`, `no-signal/a/${SILENT_MS}/15`, `returned/a/${SILENT_MS}`]
    writtenAtMs += 50_000
    await late('a', 2, 3, 21, 3)
    await late('b', 1)
    writtenAtMs += 59_000
    await applyMarks(mark(SILENT_MS + 24 * MINUTE))
    expect(await told()).toEqual(before)
    writtenAtMs += 1_000
    await applyMarks(mark(SILENT_MS + 25 * MINUTE))
    await applyMarks(mark(SILENT_MS + 26 * MINUTE))
    const corrected = [...before, `corrected/a/${SILENT_MS}/4`]
    expect(await told()).toEqual(corrected)
    const [event] = (await out.readEvents(EVERYTHING, { afterId: 0, limit: 100 })).slice(-1)
    const span = { sinceMs: SILENT_MS, endedMs: SILENT_MS + 22 * MINUTE }
    expect(event).toMatchObject({ kind: 'corrected', van: 'a', ...span, thenMs: 22 * MINUTE, knownGapMs: 18 * MINUTE, latePoints: 4 })
    // The same again, and one that is not of the silence: nothing new.
    await late('a', 2, 30)
    writtenAtMs += 60_000
    await applyMarks(mark(SILENT_MS + 27 * MINUTE))
    expect(await told()).toEqual(corrected)
    await late('a', 10)
    writtenAtMs += 60_000
    await applyMarks(mark(SILENT_MS + 28 * MINUTE))
    expect(await told()).toEqual([...corrected, `corrected/a/${SILENT_MS}/5`])
  })

  it('that come again with the log are told no second time', async () => {
    await silent('a')
    await applyMarks(mark(SILENT_MS + 4 * MINUTE))
    await pool.query('truncate km0.serving_offset')
    await silent('a')
    await applyMarks(mark(SILENT_MS + 5 * MINUTE))
    expect(await told()).toEqual([`no-signal/a/${SILENT_MS}/3`])
  })

  it('are seen by those who see the van', async () => {
    await serving.importDepots([{ line: 1, row: depot('girona', ['girona']) }])
    await serving.importVans([{ line: 1, row: van('a', 'girona') }])
    await silent('a')
    await silent('b', SILENT_MS, 11)
    await applyMarks(mark(SILENT_MS + 4 * MINUTE))
    expect(await told(GIRONA)).toEqual([`no-signal/a/${SILENT_MS}/3`])
    expect(await told()).toHaveLength(2)
    expect(await told({ kind: 'limited', depots: [], markets: ['girona'] })).toHaveLength(1)
  })
})

describe('low stock', () => {
  const value = (end: number | null) => ({
    ...{ producte: 'pa', mercat: 'girona', inici_ms: NOW, fi_ms: end, estoc_minim: 3, llindar: 10, darrera_finestra_ms: NOW },
    avisos: [{ motiu: 'comenca', estoc: 3, data_ms: NOW + 1 }],
  })
  const apply = (offset: number, end: number | null) =>
    stock.applyEpisodeBatch({
      ...{ topic: TOPICS.stockEpisodes.name, partition: 0, nextOffset: offset + 1, clusterId: 'c', writtenAtMs: NOW + 5 },
      records: [record(`${NOW}|pa|girona`, value(end), { offset }, offset)],
    })

  it('is told when people are, and when it is over, by market', async () => {
    await apply(0, null)
    await apply(1, null)
    await apply(2, NOW + 9)
    await apply(3, NOW + 9)
    expect(await told()).toEqual([`low-stock/pa/girona/${NOW}/begun`, `low-stock-over/pa/girona/${NOW}`])
    const [begun] = await out.readEvents(EVERYTHING, { afterId: 0, limit: 1 })
    expect(begun).toMatchObject({ product: 'pa', market: 'girona', stock: 3, threshold: 10, foundAtMs: NOW + 5 })
    expect(begun).not.toHaveProperty('van')
    expect(await told({ kind: 'limited', depots: [], markets: ['vic'] })).toEqual([])
    expect(await told({ kind: 'limited', depots: [], markets: ['girona'] })).toHaveLength(2)
  })
})

describe('deliveries', () => {
  const subscribe = (more: { leastStepMs?: number; scope?: Scope } = {}) =>
    out.createSubscription({
      ...{
        name: 'hook',
        channel: 'webhook',
        target: 'http://127.0.0.1/',
        locale: 'ca',
        reportMinutes: null,
        secret: 's',
        owner: MARTA,
        nowMs: NOW,
      },
      ...{ kinds: ['no-signal', 'returned'], leastStepMs: 3 * MINUTE, scope: EVERYTHING, ...more },
    })
  const handOut = () => out.handOutEvents({ nowMs: NOW, maxAgeMs: 86_400_000, depotDistanceM: 150 })
  const viewer = { scope: EVERYTHING, owner: MARTA.id }

  it('are made once an event and subscription that wants it, by two at once too', async () => {
    await silent('before')
    await applyMarks(mark(SILENT_MS + 4 * MINUTE))
    await subscribe()
    await subscribe({ leastStepMs: 15 * MINUTE })
    await subscribe({ scope: GIRONA })
    await silent('a', SILENT_MS + MINUTE, 30)
    await applyMarks(mark(SILENT_MS + 5 * MINUTE))
    await applyMarks(mark(SILENT_MS + 16 * MINUTE))
    await Promise.all([handOut(), handOut()])
    await handOut()
    const made = (await out.listDeliveries(viewer, 50)).map(({ subscriptionId, key }) => `${subscriptionId} ${key}`)
    const since = SILENT_MS + MINUTE
    const ids = (await out.listSubscriptions(viewer)).map(({ id }) => id)
    expect(made.sort()).toEqual(
      [
        `${ids[0]} no-signal/before/${SILENT_MS}/15`,
        `${ids[0]} no-signal/a/${since}/3`,
        `${ids[0]} no-signal/a/${since}/15`,
        `${ids[1]} no-signal/before/${SILENT_MS}/15`,
        `${ids[1]} no-signal/a/${since}/15`,
      ].sort(),
    )
  })

  it('of a silence that somebody has muted are not made, nor of its return', async () => {
    await subscribe()
    await pool.query(
      `insert into km0.mute (kind, subject, note, actor_id, actor_name, actor_roles, at_ms) values ('van', 'a', '', 'x', 'x', '{}', 1)`,
    )
    await silent('a')
    await silent('b', SILENT_MS, 11)
    await applyMarks(mark(SILENT_MS + 4 * MINUTE))
    await handOut()
    await back('a', SILENT_MS + 5 * MINUTE, 30)
    await back('b', SILENT_MS + 5 * MINUTE, 31)
    await applyMarks(mark(SILENT_MS + 6 * MINUTE))
    await handOut()
    const made = (await out.listDeliveries(viewer, 50)).map(({ key }) => key).sort()
    expect(made).toEqual([`no-signal/b/${SILENT_MS}/3`, `returned/b/${SILENT_MS}`])
  })

  it('that waited for days are of history: not made', async () => {
    await subscribe()
    await silent('a')
    await applyMarks(mark(SILENT_MS + 4 * MINUTE))
    expect(await out.handOutEvents({ nowMs: NOW, maxAgeMs: MINUTE, depotDistanceM: 150 })).toBe(0)
    expect(await handOut()).toBe(0)
  })

  describe('go by what their owner may see at that moment', () => {
    const owner = { id: 'user:pau', name: 'Pau', roles: ['dispatcher'] }
    const rights = (depots: string[], revokedAtMs: number | null = null, markets: string[] = []) =>
      pool.query(
        `insert into km0.sign_in_user (id, name, email, depots, markets, revoked_at_ms) values ('user:pau', 'Pau', 'pau@example.cat', $1, $2, $3)
         on conflict (id) do update set depots = excluded.depots, markets = excluded.markets, revoked_at_ms = excluded.revoked_at_ms`,
        [depots, markets, revokedAtMs],
      )
    const made = async () => (await out.listDeliveries({ ...viewer, scope: EVERYTHING }, 50)).map(({ key }) => key).sort()
    const step = (van: string, minutes: number) => `no-signal/${van}/${SILENT_MS}/${minutes}`
    const standing = async () => (await out.listSubscriptions(viewer)).map((one) => one.standing)
    const subscribePau = (scope: Scope, id = owner.id) =>
      out.createSubscription({
        ...{ name: 'pau', channel: 'webhook', target: 'http://127.0.0.1/', locale: 'ca', secret: 's', owner: { ...owner, id } },
        ...{ reportMinutes: 360, kinds: ['no-signal', 'returned'], leastStepMs: 3 * MINUTE, nowMs: NOW, scope },
      })
    beforeEach(async () => {
      await serving.importDepots([
        { line: 1, row: depot('girona', ['girona']) },
        { line: 2, row: depot('vic', ['vic']) },
      ])
      await serving.importVans([
        { line: 1, row: van('a', 'girona') },
        { line: 2, row: van('b', 'vic') },
      ])
      await rights(['girona', 'vic'])
    })

    it('narrowed: no event beyond it, no delivery that was waiting, no line of a report', async () => {
      const { id } = await subscribePau({ kind: 'limited', depots: ['girona', 'vic'], markets: [] })
      await silent('a')
      await silent('b', SILENT_MS, 11)
      await applyMarks(mark(SILENT_MS + 4 * MINUTE))
      await handOut()
      expect(await made()).toEqual([step('a', 3), step('b', 3)])
      await out.addDeliveries([{ subscriptionId: id, key: 'report/2026-09-13', kind: 'report', body: { dayMs: NOW } }], NOW)
      expect(await standing()).toEqual(['active'])
      await rights([], null, ['girona'])
      expect(await standing()).toEqual(['narrowed'])
      await applyMarks(mark(SILENT_MS + 16 * MINUTE))
      await handOut()
      expect(await made()).toEqual([step('a', 15), step('a', 3), step('b', 3), 'report/2026-09-13'])
      const jobs = new Map((await out.listDeliveries(viewer, 50)).map((one) => [one.key, one.id]))
      expect(await out.readDelivery(jobs.get(step('b', 3))!, 1)).toBeNull()
      expect(await out.readDelivery(jobs.get(step('a', 3))!, 1)).not.toBeNull()
      const girona = { kind: 'limited', depots: ['girona'], markets: [] }
      expect(await out.readDelivery(jobs.get('report/2026-09-13')!, 1)).toMatchObject({ scope: girona })
      const dead = (await out.listDeliveries(viewer, 50)).filter(({ state }) => state === 'dead')
      expect(dead.map(({ key, answer }) => [key, answer])).toEqual([[step('b', 3), 'whoever asked for it may not see this any more']])
    })

    it('a subscription to everything is of what its owner sees now, stock too', async () => {
      await subscribePau(EVERYTHING)
      await rights(['vic'])
      await silent('a')
      await silent('b', SILENT_MS, 11)
      await applyMarks(mark(SILENT_MS + 4 * MINUTE))
      await handOut()
      expect(await made()).toEqual([step('b', 3)])
    })

    it('revoked: nothing more, nor what was waiting; back again, from then on', async () => {
      const { id } = await subscribePau(EVERYTHING)
      await silent('a')
      await applyMarks(mark(SILENT_MS + 4 * MINUTE))
      await handOut()
      await rights(['girona'], NOW)
      expect(await standing()).toEqual(['stopped'])
      await applyMarks(mark(SILENT_MS + 16 * MINUTE))
      await handOut()
      expect(await made()).toEqual([step('a', 3)])
      expect((await out.readReportTimes()).map((one) => one.id)).not.toContain(id)
      const [waiting] = await out.listDeliveries(viewer, 5)
      expect(await out.readDelivery(waiting!.id, 1)).toBeNull()
      expect(await out.listDeliveries(viewer, 5)).toMatchObject([{ state: 'dead', answer: 'whoever asked for it may do so no more' }])
      await rights(['girona'])
      await applyMarks(mark(SILENT_MS + 61 * MINUTE))
      await handOut()
      expect(await made()).toEqual([step('a', 3), step('a', 60)])
      expect((await out.readReportTimes()).map((one) => one.id)).toContain(id)
      // A role that may not subscribe, and may see pseudonyms alone.
      await pool.query(`update km0.sign_in_user set role = 'analyst' where id = 'user:pau'`)
      expect([await standing(), await out.readReportTimes()]).toEqual([['stopped'], []])
      await pool.query(`update km0.sign_in_user set role = 'dispatcher' where id = 'user:pau'`)
    })

    it('of nobody who is a user, nothing', async () => {
      await subscribePau(EVERYTHING, 'user:gone')
      await silent('a')
      await applyMarks(mark(SILENT_MS + 4 * MINUTE))
      await handOut()
      expect(await made()).toEqual([])
    })
  })

  it('are tried, sent again in a new round, and given up with their subscription', async () => {
    const { id } = await subscribe()
    await out.addDeliveries([{ subscriptionId: id, key: 'test/1', kind: 'test', body: {} }], NOW)
    await out.addDeliveries([{ subscriptionId: id, key: 'test/1', kind: 'test', body: {} }], NOW)
    const [job] = await out.takeWaiting({ nowMs: NOW, queuedBeforeMs: NOW - 1, limit: 10 })
    expect(await out.takeWaiting({ nowMs: NOW, queuedBeforeMs: NOW - 1, limit: 10 })).toEqual([])
    expect(await out.readDelivery(job!.id, 1)).toMatchObject({ target: 'http://127.0.0.1/', secret: 's', scope: EVERYTHING })
    await out.noteTry({ id: job!.id, round: 1 }, { state: 'dead', answer: '500', nowMs: NOW })
    expect(await out.readDelivery(job!.id, 1)).toBeNull()
    expect(await out.sendAgain({ scope: GIRONA, owner: 'somebody' }, job!.id)).toBe(false)
    expect(await out.sendAgain(viewer, job!.id)).toBe(true)
    expect(await out.readDelivery(job!.id, 1)).toBeNull()
    expect(await out.readDelivery(job!.id, 2)).toMatchObject({ attempts: 0 })
    expect(await out.removeSubscription({ scope: GIRONA, owner: 'somebody' }, id, NOW)).toBe(false)
    expect(await out.removeSubscription(viewer, id, NOW)).toBe(true)
    expect(await out.listDeliveries(viewer, 5)).toMatchObject([{ state: 'dead', answer: 'the subscription was taken away' }])
    expect(await out.sendAgain(viewer, job!.id)).toBe(false)
  })
})

it('a stream goes on where it was, though events are written by several at once', async () => {
  const clients = await Promise.all([0, 1].map(() => new pg.Client({ connectionString: services.postgres.url })))
  await Promise.all(clients.map((client) => client.connect()))
  const tell = (client: pg.Client, key: string) => client.query(`select km0.tell($1, 'returned', 'a', null, null, 1, '{}', 1)`, [key])
  const [first, second] = clients as [pg.Client, pg.Client]
  await first.query('begin')
  await tell(first, 'one')
  const other = tell(second, 'two')
  // The second waits for the first: nobody sees a greater id before a smaller one.
  const seen: PlatformEvent[] = await out.readEvents(EVERYTHING, { afterId: 0, limit: 9 })
  expect(seen).toEqual([])
  await first.query('commit')
  await other
  expect(await told()).toEqual(['one', 'two'])
  const id = await out.findEvent(EVERYTHING, 'one')
  expect((await out.readEvents(EVERYTHING, { afterId: id ?? 0, limit: 9 })).map(({ key }) => key)).toEqual(['two'])
  await Promise.all(clients.map((client) => client.end()))
})
