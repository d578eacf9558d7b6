import { MQTT_TOPICS, positionTopic } from '@km0/contracts'
import { createLogger, parseEnvironment, Registry, type Tracer } from '@km0/runtime'
import type { OutRecord } from '@km0/transport'
import type { MqttDelivery } from '@km0/transport/mqtt-input'
import { BridgeCounters } from './counters.ts'
import type { RecordSender } from './forwarder.ts'
import { Pipeline } from './pipeline.ts'
import { bridgeEnvironment } from './settings.ts'
import type { PartitionInForce } from './settings-in-force.ts'

export const T0 = 1_772_442_000_000
export const PARTITIONS = 3
export const NOTHING_KNOWN: PartitionInForce = { settings: null, newestMs: null, playing: false }
export const emptyLog = () => new Map(Array.from({ length: PARTITIONS }, (_, partition) => [partition, NOTHING_KNOWN] as const))

// What the tests of the pipeline share.

/** Takes what it is sent; each call first asks `behave`, which may throw. */
export class RecordingSender implements RecordSender {
  readonly calls: (readonly OutRecord[])[] = []
  readonly stored: OutRecord[] = []
  readonly #behave: (records: readonly OutRecord[], call: number) => Promise<void> | void

  constructor(behave: (records: readonly OutRecord[], call: number) => Promise<void> | void = () => undefined) {
    this.#behave = behave
  }

  async send(records: readonly OutRecord[]): Promise<void> {
    this.calls.push(records)
    await this.#behave(records, this.calls.length)
    this.stored.push(...records)
  }

  async close(): Promise<void> {}
}

export function build(
  sender: RecordingSender,
  environment: Record<string, string> = {},
  machineMs: () => number = () => T0,
  tracer: Tracer | null = null,
) {
  const metrics = new Registry()
  const counters = new BridgeCounters(metrics)
  let rooms = 0
  const probes: string[] = []
  const gate = { open: true }
  const pipeline = new Pipeline({
    settings: parseEnvironment(bridgeEnvironment, environment),
    instance: 'prova',
    counters,
    logger: createLogger('prova', 'silent'),
    tracer,
    openSender: async () => sender,
    mayWrite: () => gate.open,
    machineMs,
    onRoom: () => {
      rooms += 1
    },
    onProbe: (payload) => probes.push(payload.toString()),
    onFatal: (error) => {
      throw error
    },
  })
  const refusedCount = async (reason: string) =>
    (await counters.refused.get()).values.find((value) => value.labels.reason === reason)?.value
  return { pipeline, gate, probes, counters, refusedCount, rooms: () => rooms }
}

export function delivery(topic: string, message: unknown, acknowledge: () => boolean = () => true, retain = false): MqttDelivery {
  return {
    topic,
    payload: Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)),
    retain,
    connection: 1,
    acknowledge,
  }
}
export const position = (van: string, ms: number) => delivery(positionTopic(van), { repartidor: van, lat: 41.9, lon: 2.8, data_ms: ms })
export const tick = (ms: number) => delivery(MQTT_TOPICS.clock, { ara_ms: ms })
export const settle = () => new Promise((resolve) => setTimeout(resolve, 20))
export const texts = (records: readonly OutRecord[]) => records.map(({ value }) => value?.toString() ?? '')
