import { fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { TOPICS } from '@km0/contracts'
import { startServices } from '@km0/testkit/services'
import { openLog } from '@km0/transport'
import { LineBetween } from '../browser/line-between.ts'
import { type Counted, countTopic } from './bridge-count.ts'
import type { LoadOrder, LoadResult } from './bridge-load.ts'
import type { BridgeSubject } from './bridge-subjects.ts'
import { RestartedProcess } from './restarted-process.ts'

export const FAULTS = ['kill', 'kafka-down', 'mosquitto-restart', 'cut'] as const
export type Fault = (typeof FAULTS)[number]

export interface ScenarioOptions {
  readonly messages: number
  /** 0: as fast as acknowledgements allow. */
  readonly perSecond: number
  readonly fault?: Fault
  /** How long Kafka is away in `kafka-down`. */
  readonly downMs: number
}

export interface ScenarioResult {
  readonly counted: Counted
  readonly load: LoadResult
  /** Absent until a bridge that stood still was started again. */
  readonly stalled: number
  readonly seconds: number
  readonly cpuSeconds: number
  readonly peakRssMb: number
}

const FLEET = { publishers: 10, inFlight: 50, vans: 140 }
const PREFIX = 'furgoneta-'
/** A share of the load after which the fault comes. */
const FAULT_AT = 0.3
const READY_WITHIN_MS = 60_000
/** Nothing new for so long although messages are missing: it stands still. */
const QUIET_MS = 25_000
const [CUTS, BETWEEN_CUTS_MS] = [5, 1_500]

/** Runs one load through one bridge on services of its own: real Kafka and mosquitto (KM0_BROKER is set by the bench). */
export async function runScenario(subject: BridgeSubject, options: ScenarioOptions): Promise<ScenarioResult> {
  const services = await startServices({ kafka: true, mqtt: { maxQueuedMessages: 2_000_000 } })
  const line = await LineBetween.open(services.mqtt.port)
  const ends = {
    mqttPort: options.fault === 'cut' ? line.port : services.mqtt.port,
    brokers: services.kafka.brokers,
    dir: services.dataDir,
  }
  const log = openLog({ brokers: [ends.brokers], clientId: 'banc' })
  await log.ensureTopics([TOPICS.positions, TOPICS.deadLetters], { [TOPICS.positions.name]: { stampOnAppend: true } })
  const bridge = new RestartedProcess(() => subject.start(ends))
  try {
    const count = (prefix = PREFIX) => countTopic(ends.brokers, TOPICS.positions.name, prefix)
    const high = async () => [...(await log.endOffsets(TOPICS.positions.name)).values()].reduce((sum, end) => sum + end, 0)
    await untilReady(
      services.mqtt.port,
      () => count('sonda-'),
      () => readFileSync(join(ends.dir, 'bridge.log'), 'utf8').slice(-2_000),
    )
    const before = bridge.usage()
    const order = { ...FLEET, port: services.mqtt.port, messages: options.messages, perSecond: options.perSecond, prefix: PREFIX }
    const fault = once(() => strike(options, services, line, () => bridge.again()))
    const load = await runLoad(order, (acked) => {
      if (acked > options.messages * FAULT_AT) fault.begin()
    })
    await fault.over()
    await settle(high, count, load.acked)
    let counted = await count()
    const stalled = load.acked - counted.distinct
    if (stalled > 0) {
      await bridge.again()
      await settle(high, count, load.acked)
      counted = await count()
    }
    const after = bridge.usage()
    const seconds = (counted.lastAppendMs - load.firstMs) / 1_000
    return {
      counted,
      load,
      stalled,
      seconds,
      cpuSeconds: Number((after.cpuSeconds - before.cpuSeconds).toFixed(2)),
      peakRssMb: after.peakRssMb,
    }
  } finally {
    await bridge.end()
    await line.close()
    await services.stop()
  }
}

type Services = Awaited<ReturnType<typeof startServices<{ kafka: true; mqtt: { maxQueuedMessages: number } }>>>

async function strike(
  { fault, downMs }: ScenarioOptions,
  services: Services,
  line: LineBetween,
  again: () => Promise<void>,
): Promise<void> {
  if (fault === 'kill') await again()
  if (fault === 'kafka-down') {
    await services.kafka.stop()
    await sleep(downMs)
    await services.restart('kafka')
  }
  if (fault === 'mosquitto-restart') {
    await services.mqtt.stop()
    await sleep(1_000)
    await services.restart('mqtt')
  }
  for (let cut = 0; fault === 'cut' && cut < CUTS; cut += 1) {
    line.cut()
    line.mend()
    await sleep(BETWEEN_CUTS_MS)
  }
}

/** Something that happens once, and its end. */
function once(act: () => Promise<void>): { begin: () => void; over: () => Promise<void> } {
  let running: Promise<void> | undefined
  const begin = () => {
    running ??= act()
  }
  return {
    begin,
    over: async () => {
      begin()
      await running
    },
  }
}

/** A probe has gone all the way. */
async function untilReady(port: number, probes: () => Promise<Counted>, said: () => string): Promise<void> {
  const endMs = Date.now() + READY_WITHIN_MS
  while ((await probes()).distinct === 0) {
    if (Date.now() > endMs) throw new Error(`no probe reached Kafka within ${READY_WITHIN_MS} ms; the bridge said:\n${said()}`)
    await runLoad({ ...FLEET, publishers: 1, port, messages: 1, perSecond: 0, prefix: 'sonda-' })
  }
}

/** Waits until all is there, or nothing came for `QUIET_MS`. */
async function settle(high: () => Promise<number>, count: () => Promise<Counted>, wanted: number): Promise<void> {
  let last = -1
  let lastMs = Date.now()
  while (Date.now() - lastMs < QUIET_MS) {
    const now = await high()
    if (now === last && now >= wanted && (await count()).distinct >= wanted) return
    if (now !== last) lastMs = Date.now()
    last = now
    await sleep(250)
  }
}

function runLoad(order: LoadOrder, onAcked: (acked: number) => void = () => undefined): Promise<LoadResult> {
  const child = fork(fileURLToPath(new URL('bridge-load.ts', import.meta.url)), [], { execArgv: ['--import', 'tsx'] })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`the load ended with ${code}`)))
    child.on('message', ({ acked, done }: { acked?: number; done?: LoadResult }) => {
      if (done !== undefined) resolve(done)
      else if (acked !== undefined) onAcked(acked)
    })
    child.send(order)
  })
}
