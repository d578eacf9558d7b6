import { type CommonEnvironment, Counter, Gauge, type Logger, type Registry } from '@km0/runtime'
import { isSchemaMissing, openLineageStore } from '@km0/serving'
import { z } from 'zod'
import { againAndAgain } from '../again-and-again.ts'
import { lineageSink } from './lineage-sink.ts'
import { type Places, runEventOf } from './run-event.ts'

/** Settings of lineage. */
export const lineageEnvironment = z.object({
  /** Where run events go: file:///path or http(s)://host/api/v1/lineage; absent: nowhere. */
  KM0_LINEAGE_URL: z.url({ protocol: /^(file|https?)$/ }).optional(),
  /** Sent as a bearer token. */
  KM0_LINEAGE_KEY: z.string().min(1).optional(),
  /** Name of this installation in run events. */
  KM0_LINEAGE_NAMESPACE: z.string().min(1).default('km0'),
  /** How often the store is asked what is to be told. */
  KM0_LINEAGE_EVERY_MS: z.coerce.number().int().min(100).default(5_000),
})

const AT_ONCE = 100

export interface LineageProgram {
  readonly settings: CommonEnvironment & z.infer<typeof lineageEnvironment> & { readonly KM0_LAKE_DATA?: string | undefined }
  readonly log: Logger
  readonly metrics: Registry
}

/**
 * Tells run events of backfills, publications, roll backs and reprocessings, as OpenLineage has them: each at least once, in order. They are read
 * from the store, so an endpoint that is away holds nothing up and misses nothing. Returns what stops it.
 */
export function startLineage({ settings, log, metrics }: LineageProgram): { close(): Promise<void> } {
  const { KM0_LINEAGE_URL: url } = settings
  if (url === undefined) return { close: async () => undefined }
  const registers = [metrics]
  const told = new Counter({
    name: 'km0_lineage_events_total',
    help: 'Run events, by what came of a try',
    labelNames: ['outcome'],
    registers,
  })
  for (const outcome of ['told', 'refused', 'failed']) told.inc({ outcome }, 0)
  const waiting = new Gauge({ name: 'km0_lineage_waiting_events', help: 'Run events that are not told yet, 100 at most', registers })
  const store = openLineageStore({ databaseUrl: settings.DATABASE_URL, applicationName: 'km0-batch-lineage', maxConnections: 2 })
  const sink = lineageSink(url, settings.KM0_LINEAGE_KEY)
  const places: Places = {
    namespace: settings.KM0_LINEAGE_NAMESPACE,
    databaseUrl: settings.DATABASE_URL,
    brokers: settings.KAFKA_BROKERS,
    lakeData: settings.KM0_LAKE_DATA ?? null,
  }
  let isTroubled = false
  const tell = async (isClosing: () => boolean) => {
    const due = await store.due(AT_ONCE)
    waiting.set(due.length)
    for (const [index, one] of due.entries()) {
      if (isClosing()) return
      const taken = await sink(runEventOf(one, places)).catch((error: unknown) => {
        told.inc({ outcome: 'failed' })
        throw error
      })
      told.inc({ outcome: taken ? 'told' : 'refused' })
      if (!taken) log.warn({ job: one.run, kind: one.event }, 'the endpoint of lineage refuses a run event; it is passed over')
      await store.noteTold(one, Date.now())
      waiting.set(due.length - index - 1)
    }
  }
  const loop = againAndAgain(async (isClosing) => {
    try {
      await store.alone(() => tell(isClosing))
      isTroubled = false
    } catch (error) {
      if (!isClosing() && !isTroubled && !isSchemaMissing(error)) log.warn({ err: error }, 'lineage is not taken: later again')
      isTroubled = true
    }
  }, settings.KM0_LINEAGE_EVERY_MS)
  return {
    close: async () => {
      await loop.close()
      await store.close()
    },
  }
}
