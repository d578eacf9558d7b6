import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { TOPICS } from '@km0/contracts'
import { startGuard } from '@km0/infra/embedded/guard'
import { startServices } from '@km0/testkit/services'
import { openLog } from '@km0/transport'
import type { Host } from './hosts.ts'
import { judge, Results, type Verdict } from './judge.ts'
import { type Plan, STOCK_SOURCES } from './logs.ts'

/** A slow machine is no fault. */
const WITHIN_MS = Number(process.env.CONFORMANCE_WITHIN_S ?? '300') * 1000
const POLL_MS = 1_000
const BATCH = 1_000

/**
 * Gives a host the whole plan through a Kafka of its own: a third of it, kill -9, another third, a stop in order, the rest. Resolves with a
 * verdict for each case, when all rows are right or nothing more is to be expected.
 */
export async function runHost(host: Host, plan: Plan): Promise<Verdict[]> {
  const guard = startGuard(0)
  const services = await startServices({ kafka: { heapMib: 768 } })
  try {
    const log = openLog({ brokers: [services.kafka.brokers], clientId: 'conformance' })
    // Logs of any age are loaded, and every row that was ever written counts.
    const kept = Object.values(TOPICS).map((topic) => ({ ...topic, cleanupPolicy: 'delete' as const, retentionMs: -1 }))
    const counts: [string, { partitions: number }][] = [TOPICS.positions, TOPICS.panel, TOPICS.late].map(({ name }) => [
      name,
      { partitions: plan.positionPartitions },
    ])
    await log.ensureTopics(kept, { ...Object.fromEntries(counts), [TOPICS.stockEvents.name]: { partitions: STOCK_SOURCES } })
    const producer = await log.openProducer()
    const write = async (part: number) => {
      const size = Math.ceil(plan.records.length / 3)
      const records = plan.records.slice(part * size, (part + 1) * size)
      for (let at = 0; at < records.length; at += BATCH) await producer.send(records.slice(at, at + BATCH))
    }
    const results = new Results(log)
    const running = host.open({
      environment: services.environment,
      brokers: services.kafka.brokers,
      folder: join(services.dataDir, host.name),
      guard,
    })
    const until = async (holds: () => boolean) => {
      for (const endMs = performance.now() + WITHIN_MS; performance.now() < endMs; await sleep(POLL_MS)) {
        await results.read()
        if (holds()) return
      }
    }
    const isAt = (rows: number) => () => results.rows.length > rows
    const startedMs = performance.now()
    const tell = (what: string) =>
      process.stderr.write(
        `${host.name}: ${what} after ${Math.round((performance.now() - startedMs) / 1000)} s, ${results.rows.length} rows\n`,
      )
    try {
      await running.start()
      tell('runs')
      await write(0)
      await until(isAt(0))
      await running.kill9()
      tell('killed')
      await write(1)
      const atKill = results.rows.length
      await running.start()
      await until(isAt(atKill))
      await running.stop()
      tell('stopped')
      await write(2)
      await running.start()
      // A judgement costs seconds of a core that the host needs: only when no more rows come.
      let seen = -1
      await until(() => {
        const rests = results.rows.length === seen
        seen = results.rows.length
        return rests && judge(plan, results.rows, host.again).every(({ difference }) => difference === null)
      })
      await running.stop()
      await results.read()
      return judge(plan, results.rows, host.again)
    } finally {
      await running.kill9().catch(() => undefined)
      await producer.close()
    }
  } finally {
    await services.stop()
    await guard.close()
  }
}
