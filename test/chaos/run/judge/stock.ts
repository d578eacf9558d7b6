// Low stock: alerts against the oracle over the internal log; PostgreSQL against the topics; episodes told once.
import { setTimeout as sleep } from 'node:timers/promises'
import { type StockEpisodeValue, type StockNoticeKind, TOPICS } from '@km0/contracts'
import type { Pool } from '@km0/serving/pool'
import type { Log } from '@km0/transport'
import { alertsOf, mergedLog, oracle, readAll, readShuffled } from '../../../e2e/stock-log.ts'
import { type Check, firstOf } from './check.ts'
import { compareStored, rowsOf } from './stored.ts'

const APPLIED_WITHIN_MS = 90_000
const LOOK_EVERY_MS = 1_000
const REASONS: Readonly<Record<StockNoticeKind, string>> = { comenca: 'begun', meitat: 'halved', zero: 'empty' }

/** To be called when the shuffle has ended: the internal log must stand still. Waits until the windows have said what the oracle says. */
export async function judgeAlerts(log: Log): Promise<Check[]> {
  const shuffled = await readShuffled(log)
  const sources = await log.partitionCount(TOPICS.stockEvents.name)
  const right = oracle('live', mergedLog(shuffled), sources).alerts
  const compare = async () => {
    const alerts = await alertsOf(log)
    const missing = [...right.keys()].filter((key) => !alerts.has(key))
    const doubtful = [...alerts.keys()].filter((key) => !right.has(key))
    const different = [...right]
      .filter(([key, alert]) => alerts.has(key) && JSON.stringify(alerts.get(key)) !== JSON.stringify(alert))
      .map(([key]) => key)
    return { missing, doubtful, different, wrong: missing.length + doubtful.length + different.length }
  }
  const deadlineMs = performance.now() + APPLIED_WITHIN_MS
  let found = await compare()
  while (found.wrong > 0 && performance.now() < deadlineMs) {
    await sleep(LOOK_EVERY_MS)
    found = await compare()
  }
  const copies = shuffled.filter(({ headers, record }) => headers.number === null && record.key !== null)
  const places = new Set(copies.map(({ headers }) => `${headers.sourcePartition}/${headers.sourceOffset}`))
  const events = (await readAll(log, TOPICS.stockEvents.name)).length
  return [
    {
      name: "alerts of low stock are the oracle's",
      passed: found.wrong === 0,
      detail: `${events} records of the shops, ${places.size} events shuffled, ${copies.length - places.size} again; ${right.size} alerts${
        found.wrong === 0
          ? ''
          : `, missing ${found.missing.length}, too many ${found.doubtful.length}, different ${found.different.length}: ${firstOf([...found.missing, ...found.doubtful, ...found.different])}`
      }`,
    },
  ]
}

/** Alerts and episodes in PostgreSQL are those of the topics, and nobody was told of anything twice, or not at all. */
export async function judgeStoredStock(log: Log, pool: Pool): Promise<Check[]> {
  const alerts = new Map(
    [...(await alertsOf(log))].map(([key, { estoc_minim, actualitzacions }]) => [key, `${estoc_minim} ${actualitzacions}`]),
  )
  const episodes = new Map<string, StockEpisodeValue>()
  for (const { key, value } of await readAll(log, TOPICS.stockEpisodes.name)) {
    if (key !== null && value !== null) episodes.set(key, JSON.parse(value.toString('utf8')) as StockEpisodeValue)
  }
  const told = new Map(
    [...episodes].flatMap(([key, { avisos }]) => avisos.map(({ motiu, estoc }) => [`${key}|${REASONS[motiu]}`, String(estoc)] as const)),
  )
  const endings = new Map([...episodes].map(([key, { fi_ms, estoc_minim }]) => [key, `${fi_ms} ${estoc_minim}`]))
  return [
    await compareStored('alerts in PostgreSQL are those of the log', alerts, () =>
      rowsOf(
        pool,
        `select concat(window_start_ms, '|', product, '|', market) as key, concat(minimum, ' ', updates) as value from km0.stock_alert`,
      ),
    ),
    await compareStored('episodes in PostgreSQL are those of the log', endings, () =>
      rowsOf(
        pool,
        `select concat(start_ms, '|', product, '|', market) as key, concat(coalesce(end_ms::text, 'null'), ' ', minimum) as value from km0.stock_episode`,
      ),
    ),
    await compareStored('each episode is told once', told, () =>
      rowsOf(pool, `select concat(start_ms, '|', product, '|', market, '|', reason) as key, stock::text as value from km0.stock_notice`),
    ),
  ]
}
