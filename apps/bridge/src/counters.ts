import type { BridgeRefusal } from '@km0/contracts'
import { Counter, Gauge, Histogram, type Registry } from '@km0/runtime'
import { HOLD_REASONS, type HoldReason } from './heartbeat-rule.ts'

const REFUSALS: readonly BridgeRefusal[] = [
  'identitat',
  'json',
  'buit',
  'retingut',
  'utf8',
  'massa-gran',
  'no-posicio',
  'sense-format',
  'camps',
  'rebutjat-per-kafka',
]

/** Around the usual delays of the watermark, finer: whether one fits is what is looked at. */
const LATENESS_BUCKETS_S = [0, 0.5, 1, 2, 3, 5, 8, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 75, 90, 120, 180, 240, 480, 900, 1_800, 3_600]

/** What the gauges show, asked for when somebody looks. */
export interface BridgeGauges {
  readonly queueMessages: number
  readonly queueBytes: number
  /** Of the watermark, as control records tell it. */
  readonly delaySeconds: number
  readonly held: boolean
  readonly connected: boolean
  /** Null before the first. */
  readonly secondsSinceMessage: number | null
  readonly secondsSinceHeartbeat: number | null
  readonly heartbeatAlarm: boolean
  readonly secondsSinceProbe: number | null
  readonly deaf: boolean
  readonly sharedClientId: boolean
  /** Of our partitions, those into which another bridge writes too. */
  readonly partitionsShared: number
  /** Null where the broker's limits are not known. */
  readonly outageBudgetSeconds: number | null
}

/** Everything that the bridge counts, under Prometheus names. Counters begin at 0 with the process. */
export class BridgeCounters {
  readonly received: Counter
  readonly acknowledged: Counter
  readonly stored: Counter
  readonly refused: Counter<'reason'>
  readonly merged: Counter
  readonly connections: Counter
  readonly disconnections: Counter
  readonly kafkaFailures: Counter
  readonly heartbeats: Counter
  readonly heartbeatsHeld: Counter<'reason'>
  readonly lateness: Histogram<'partition'>
  /** Also in heartbeats: cumulative since the start of this instance. */
  receivedTotal = 0
  mergedTotal = 0
  clockTotal = 0

  constructor(metrics: Registry) {
    const counter = (name: string, help: string) => new Counter({ name: `km0_bridge_${name}_total`, help, registers: [metrics] })
    this.received = counter('received', 'MQTT messages received, redeliveries included')
    this.acknowledged = counter('acknowledged', 'PUBACKs sent')
    this.stored = counter('stored', 'records that Kafka has acknowledged, heartbeats, settings and dead letters included')
    this.merged = counter('merged', 'redeliveries merged with a message queued or stored already')
    this.connections = counter('connections', 'connections to the MQTT broker')
    this.disconnections = counter('disconnections', 'connections to the MQTT broker that ended')
    this.kafkaFailures = counter('kafka_failures', 'attempts to write to Kafka that failed and were repeated')
    this.heartbeats = counter('heartbeats', 'heartbeats given to the queue, one for all partitions')
    this.refused = new Counter({
      name: 'km0_bridge_refused_total',
      help: 'messages sent to the dead letters, by reason',
      labelNames: ['reason'],
      registers: [metrics],
    })
    this.heartbeatsHeld = new Counter({
      name: 'km0_bridge_heartbeat_held_seconds_total',
      help: 'time during which a due heartbeat was held back, by reason',
      labelNames: ['reason'],
      registers: [metrics],
    })
    this.lateness = new Histogram({
      name: 'km0_bridge_lateness_seconds',
      help: 'arrival less event time of positions whose clock is right: what the delay of the watermark has to cover',
      labelNames: ['partition'],
      buckets: LATENESS_BUCKETS_S,
      registers: [metrics],
    })
    // A series that is there from the start: an alarm on its increase sees the first one too.
    for (const reason of REFUSALS) this.refused.inc({ reason }, 0)
    for (const reason of HOLD_REASONS) this.heartbeatsHeld.inc({ reason }, 0)
  }

  countReceived(): void {
    this.received.inc()
    this.receivedTotal += 1
  }

  countMerged(): void {
    this.merged.inc()
    this.mergedTotal += 1
  }

  countRefused(reason: BridgeRefusal): void {
    this.refused.inc({ reason })
  }

  countHeld(reason: HoldReason, seconds: number): void {
    this.heartbeatsHeld.inc({ reason }, seconds)
  }
}

/** Registers gauges that ask `read` at every scrape; NaN while it returns null, as the bridge stands by. */
export function registerGauges(metrics: Registry, read: () => BridgeGauges | null): void {
  const gauge = (name: string, help: string, value: (gauges: BridgeGauges) => number | null) => {
    new Gauge({
      name: `km0_bridge_${name}`,
      help,
      registers: [metrics],
      collect() {
        const gauges = read()
        this.set((gauges === null ? null : value(gauges)) ?? Number.NaN)
      },
    })
  }
  new Gauge({
    name: 'km0_bridge_active',
    help: '1 while this bridge is the active one, 0 while it stands by',
    registers: [metrics],
    collect() {
      this.set(Number(read() !== null))
    },
  })
  gauge('queue_messages', 'messages received and not yet in Kafka', (gauges) => gauges.queueMessages)
  gauge('queue_bytes', 'bytes of them', (gauges) => gauges.queueBytes)
  gauge('delay_seconds', 'delay of the watermark that is written into the log', (gauges) => gauges.delaySeconds)
  gauge('input_held', '1 while the queue is full and MQTT input is held', (gauges) => Number(gauges.held))
  gauge('mqtt_connected', '1 while connected and subscribed', (gauges) => Number(gauges.connected))
  gauge('message_age_seconds', 'seconds since the last MQTT message, NaN before the first', (gauges) => gauges.secondsSinceMessage)
  gauge('heartbeat_age_seconds', 'seconds since the last heartbeat, NaN before the first', (gauges) => gauges.secondsSinceHeartbeat)
  gauge('probe_age_seconds', 'seconds since our last probe came back, NaN before the first', (gauges) => gauges.secondsSinceProbe)
  gauge('input_deaf', '1 when the input is connected and brings nothing, not even our probe', (gauges) => Number(gauges.deaf))
  gauge('client_id_shared', '1 while another client seems to use our client id', (gauges) => Number(gauges.sharedClientId))
  gauge('heartbeat_alarm', '1 when heartbeats are held back longer than a backlog explains', (gauges) => Number(gauges.heartbeatAlarm))
  gauge('partitions_shared', 'partitions of this bridge into which another bridge writes too', (gauges) => gauges.partitionsShared)
  gauge(
    'outage_budget_seconds',
    'seconds that the broker can go on holding the messages of the fleet at the present rate, NaN where its limits are not known',
    (gauges) => gauges.outageBudgetSeconds,
  )
}
