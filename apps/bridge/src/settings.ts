import { DEFAULT_DELAY_TARGET_SHARE } from '@km0/contracts'
import { commonEnvironment } from '@km0/runtime'
import { z } from 'zod'
import { filterFault, parsePartitions } from './share.ts'

const count = (fallback: number, min: number, max: number) => z.coerce.number().int().min(min).max(max).default(fallback)

const settings = commonEnvironment.extend({
  KM0_POSITIONS_DELAY_MS: count(45_000, 0, 3_600_000).describe('watermark delay that is written into the log'),
  KM0_POSITIONS_ALLOWED_LATENESS_MS: count(0, 0, 3_600_000).describe('allowed lateness that is written into the log'),
  KM0_DELAY_ADAPTIVE: z
    .enum(['off', 'on'])
    .default('off')
    .describe('on: the delay follows how late positions come, within its bounds; KM0_POSITIONS_DELAY_MS is where it begins'),
  KM0_DELAY_TARGET_SHARE: z.coerce
    .number()
    .gt(0)
    .lt(0.5)
    .default(DEFAULT_DELAY_TARGET_SHARE)
    .describe('share of the positions that may come after the delay'),
  KM0_DELAY_MIN_MS: count(15_000, 0, 3_600_000).describe('shortest delay'),
  KM0_DELAY_MAX_MS: count(180_000, 0, 3_600_000).describe('longest delay'),
  KM0_DELAY_EVERY_MS: count(600_000, 1_000, 86_400_000).describe('how often the delay is looked at'),
  KM0_BRIDGE_CLIENT_ID: z
    .string()
    .min(1)
    .max(64)
    .default('km0-pont')
    .describe('MQTT client id; fixed, as the broker parks messages under it'),
  KM0_BRIDGE_INSTANCE: z.string().min(1).max(64).optional().describe('name of this instance in heartbeats; default a random one'),
  KM0_BRIDGE_LEASE: z
    .enum(['none', 'kafka'])
    .default('none')
    .describe('kafka: of all bridges with one client id and this setting one is active, the others stand by; none: this one is active'),
  KM0_BRIDGE_FORMATS: z
    .string()
    .default('own,owntracks,hfp')
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(['own', 'owntracks', 'hfp'])).min(1))
    .describe('formats to subscribe to'),
  KM0_BRIDGE_FILTERS: z
    .string()
    .optional()
    .transform((text, context) => {
      const filters = text?.split(',').map((filter) => filter.trim())
      for (const message of (filters ?? []).map(filterFault)) if (message !== null) context.addIssue({ code: 'custom', message })
      return filters
    })
    .describe('MQTT topic filters to subscribe to in place of those of the formats, where several bridges share the fleet'),
  KM0_BRIDGE_PARTITIONS: z
    .string()
    .optional()
    .transform((text, context) => {
      const partitions = text === undefined ? undefined : parsePartitions(text)
      if (partitions === null) context.addIssue({ code: 'custom', message: 'is a list of partitions and ranges, as in 0-2,5' })
      return partitions ?? undefined
    })
    .describe('partitions of the positions that this bridge alone writes, as in 0-2,5; default: all'),
  KM0_BRIDGE_NEIGHBOURS_EVERY_MS: count(30_000, 0, 3_600_000).describe(
    'look so often for other bridges that write into our partitions; 0: never',
  ),
  KM0_BRIDGE_KEEPALIVE_SECONDS: count(20, 1, 600).describe('MQTT keepalive; a dead connection is given up after 1.5 times this'),
  // Packet ids end at 65,535, and what lies in the sockets comes on top.
  KM0_BRIDGE_QUEUE_MESSAGES: count(20_000, 10, 30_000).describe('messages received and not yet in Kafka'),
  KM0_BRIDGE_QUEUE_BYTES: count(64 * 1024 * 1024, 1024, 1024 ** 3).describe('bytes of them'),
  KM0_BRIDGE_REMEMBERED_MESSAGES: count(20_000, 0, 1_000_000).describe('acknowledged messages whose redelivery is recognised'),
  KM0_BRIDGE_BATCH_RECORDS: count(2_000, 1, 20_000).describe('records in one request to Kafka'),
  KM0_BRIDGE_SETTLE_MS: count(30_000, 0, 600_000).describe('no heartbeats for so long after a connection'),
  KM0_BRIDGE_BACKLOG_LIMIT_MS: count(120_000, 0, 3_600_000).describe('a late fleet holds heartbeats back for so long after an outage'),
  KM0_BRIDGE_PROBE_EVERY_MS: count(10_000, 0, 3_600_000).describe('a probe through the broker so often; 0: none'),
  KM0_BRIDGE_PROBE_LIMIT_MS: count(30_000, 1_000, 3_600_000).describe(
    'an input that brings nothing for so long is renewed, and health is red',
  ),
  KM0_BRIDGE_TAKEOVER_WAIT_MS: count(30_000, 0, 3_600_000).describe('wait before connecting while another client uses our client id'),
  KM0_BROKER_QUEUE_MESSAGES: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe('messages that the broker keeps for the bridge while it is away; default: not known, and no outage budget is told'),
  KM0_BROKER_QUEUE_BYTES: z.coerce.number().int().min(1).optional().describe('bytes of them, 100 a message for its frame included'),
  KM0_BRIDGE_STOP_MS: count(6_000, 0, 60_000).describe('time to empty the queue at the end'),
})

/** Settings of the bridge. Times in ms, sizes in bytes, unless the name says otherwise. */
export const bridgeEnvironment = settings.superRefine((given, context) => {
  if (given.KM0_DELAY_MIN_MS > given.KM0_DELAY_MAX_MS)
    context.addIssue({ code: 'custom', path: ['KM0_DELAY_MIN_MS'], message: 'must not be above KM0_DELAY_MAX_MS' })
  const { KM0_BRIDGE_FILTERS: filters, KM0_BRIDGE_PARTITIONS: partitions } = given
  if ((filters === undefined) === (partitions === undefined)) return
  const [missing, why] =
    filters === undefined
      ? ['KM0_BRIDGE_FILTERS', 'partitions of its own, and would write every van of the fleet into them beside the other bridges']
      : ['KM0_BRIDGE_PARTITIONS', 'filters of its own, and would write heartbeats for vans of the other bridges']
  context.addIssue({ code: 'custom', path: [missing], message: `must be set too: this bridge has ${why}` })
})

export type BridgeSettings = z.infer<typeof bridgeEnvironment>
