// `pnpm chaos`: the whole platform, faults from a seed, and a judgement. See docs/chaos.md.
import { spawnSync } from 'node:child_process'
import { DEFAULT_AUTOSAVE_SECONDS, findMosquitto } from '@km0/infra/embedded/mosquitto'
import { repositoryRoot } from '@km0/infra/embedded/paths'
import { Pool } from '@km0/serving/pool'
import { openLog } from '@km0/transport'
import { buildPrograms } from '../../../infra/start/build.mjs'
import { untilEmpty, untilPresent, untilWell } from './drain.ts'
import type { Check } from './judge/check.ts'
import { judgeJournal } from './judge/journal.ts'
import { judgeLedger } from './judge/ledger.ts'
import { endedByThemselves, judgeCheckpoints } from './judge/logs.ts'
import { judgePanel } from './judge/panel.ts'
import { judgeRows, judgeWithOracle } from './judge/positions.ts'
import { judgeSilences } from './judge/silences.ts'
import { judgeAlerts, judgeStoredStock } from './judge/stock.ts'
import { type ChaosOptions, HELP, parseOptions } from './options.ts'
import { ChaosPlatform } from './platform.ts'
import { type Recovery, runSchedule } from './run.ts'
import { nameOf, type Schedule, scheduleOf } from './schedule.ts'
import { recoveryTable } from './summary.ts'

const say = (line: string) => console.log(line)
// Whoever listened may be gone; the platform is stopped in order all the same.
process.stdout.on('error', () => {})
const root = repositoryRoot()
/** Services that a developer has exported must not be hurt. */
const OUTSIDE = ['KAFKA_BROKERS', 'DATABASE_URL', 'REDIS_URL', 'MQTT_URL']

function options(): ChaosOptions {
  try {
    const parsed = parseOptions(process.argv.slice(2))
    if (parsed !== null) return parsed
    process.stdout.write(HELP)
    return process.exit(0)
  } catch (error) {
    console.error(`chaos: ${(error as Error).message}\n\n${HELP}`)
    return process.exit(2)
  }
}

/** Which broker this run has; says when mosquitto would be better and is not there. */
function chooseBroker(wanted: ChaosOptions['broker']): 'mosquitto' | 'embedded' {
  const found = findMosquitto(process.env)
  if (wanted === 'mosquitto' && found === null) throw new Error('there is no mosquitto on PATH, and KM0_MOSQUITTO names none')
  if (wanted === 'embedded') return 'embedded'
  if (found !== null) return 'mosquitto'
  say('mosquitto is not on this machine (PATH, KM0_MOSQUITTO): the embedded broker takes its place, with sessions on disk')
  return 'embedded'
}

function announce({ seed, minutes, vans }: ChaosOptions, schedule: Schedule, broker: string): void {
  say(`chaos: seed ${seed}, ${minutes} minutes, ${vans} vans, broker ${broker}`)
  say('The schedule (each at the earliest; it waits until results flow again after the ones before, unless it comes together with them):')
  for (const { fault, atS, lastsS, together } of schedule.cards) {
    say(
      `  at ${String(atS).padStart(4)} s  ${nameOf(fault)}${lastsS > 0 ? ` for ${lastsS} s` : ''}${together ? ', together with the one before' : ''}`,
    )
  }
  const { van, atS, lastsS } = schedule.wrongClock
  say(`  at ${String(atS).padStart(4)} s  the clock of furgoneta-${van} is a day ahead for ${lastsS} s`)
}

async function judge(platform: ChaosPlatform, broker: string, seed: number, recoveries: readonly Recovery[]): Promise<Check[]> {
  const { addresses } = platform
  const log = openLog({ brokers: addresses.kafkaBrokers.split(','), clientId: 'km0-chaos' })
  const pool = new Pool({ databaseUrl: addresses.databaseUrl, applicationName: 'km0-chaos' })
  const state = (name: string, wrong: string | null): Check => ({ name, passed: wrong === null, detail: wrong ?? 'yes' })
  try {
    const checks: Check[] = []
    const add = (...more: readonly Check[]) => {
      for (const { name, passed, detail } of more) say(`${passed ? '✓' : '✗'} ${name}: ${detail}`)
      checks.push(...more)
    }
    for (const { name, problem, tookMs } of recoveries) {
      add({
        name: `results flow again after: ${name}`,
        passed: problem === null,
        detail: problem ?? `${((tookMs ?? 0) / 1000).toFixed(1)} s`,
      })
    }
    add(state('every program is well in the end', await untilWell(platform)))
    add(state('the fleet has caught up', await untilEmpty(platform, true)))
    await Promise.all([platform.stopPart('fleet'), platform.stopPart('stock')])
    add(state('the bridge has written what it had', await untilEmpty(platform, false)))
    const killedMs = recoveries.filter(({ card }) => card.fault.kind === 'kill' && card.fault.victim === 'mqtt').map(({ atMs }) => atMs)
    const loss = broker === 'mosquitto' ? { saveEveryMs: DEFAULT_AUTOSAVE_SECONDS * 1000, killedMs } : null
    add(await judgeRows(root, addresses))
    add(...(await judgeJournal(log, platform.journal, loss)))
    add(await judgeLedger(root, addresses, platform.journal, killedMs.length > 0 && loss !== null))
    add(await judgePanel(log, platform), await judgeSilences(log, pool))
    const hasPython = spawnSync('python3', ['-c', 'from zoneinfo import ZoneInfo; ZoneInfo("Europe/Madrid")']).status === 0
    if (!hasPython) say('the oracle needs python3 with time zones, which is not on this machine: its checks are left out')
    if (hasPython) add(await judgeWithOracle(root, log, seed))
    await platform.stopPart('stream-stock-shuffle')
    if (hasPython) add(...(await judgeAlerts(log)))
    add(...(await judgeStoredStock(log, pool)), judgeCheckpoints(platform.folder))
    return checks
  } finally {
    await pool.close()
  }
}

async function main(): Promise<number> {
  const wanted = options()
  for (const name of OUTSIDE) delete process.env[name]
  const broker = chooseBroker(wanted.broker)
  process.env.KM0_BROKER = broker
  const schedule = scheduleOf(wanted.seed, wanted.minutes * 60, wanted.vans)
  announce(wanted, schedule, broker)
  await buildPrograms(root)
  let running: ChaosPlatform | null = null
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      stopping.abort()
      void running?.close(wanted.keep).finally(() => process.exit(1))
    })
  }
  const platform = await ChaosPlatform.start({ root, seed: wanted.seed, vans: wanted.vans, schedule, signal: stopping.signal })
  running = platform
  const checks = await runAndJudge(platform, schedule, wanted, broker).catch((error: Error): Check[] => {
    say(`✗ the run itself: ${error.stack ?? error.message}`)
    return [{ name: 'the run itself', passed: false, detail: error.message }]
  })
  const failed = checks.filter(({ passed }) => !passed).length
  const keep = wanted.keep || failed > 0
  running = null
  await platform.close(keep)
  if (keep) say(`data and logs are kept in ${platform.folder}`)
  say(`${checks.length - failed} passed, ${failed} failed`)
  return failed > 0 ? 1 : 0
}

async function runAndJudge(platform: ChaosPlatform, schedule: Schedule, { seed, minutes }: ChaosOptions, broker: string): Promise<Check[]> {
  say(`The platform runs: ${platform.url}, data and logs in ${platform.folder}`)
  if (platform.disk.kind === 'read-only') say('no disk can be mounted here: for a full disk the folder is made read-only')
  if (platform.disk.kind === 'none') say('no disk can be mounted here: a full disk is left out')
  await untilPresent(platform)
  const { recoveries, left } = await runSchedule(platform, schedule, seed, minutes * 60, say)
  if (left > 0) say(`${left} of ${schedule.cards.length} faults were left out: recoveries took their time`)
  say('Draining and judging')
  const checks = await judge(platform, broker, seed, recoveries)
  const ended = endedByThemselves(platform.folder)
  if (ended.length > 0) say(`Ended by themselves, and were started again: ${ended.join(', ')}`)
  say('')
  for (const line of recoveryTable(recoveries)) say(line)
  say('')
  return checks
}

try {
  process.exit(await main())
} catch (error) {
  say(`chaos: ${error instanceof Error ? (error.stack ?? error.message) : error}`)
  say('0 passed, 1 failed')
  process.exit(1)
}
