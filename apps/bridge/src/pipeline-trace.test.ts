import { positionTopic } from '@km0/contracts'
import type { Span, Tracer } from '@km0/runtime'
import { expect, it } from 'vitest'
import { build, delivery, emptyLog, position, RecordingSender, settle, T0 } from './pipeline.testbench.ts'

const PARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
const asking = (van: string) => delivery(positionTopic(van), { repartidor: van, lat: 41.9, lon: 2.8, data_ms: T0, traceparent: PARENT })

function recorder(samples: boolean): Tracer & { readonly spans: Span[] } {
  const spans: Span[] = []
  return {
    ...{ spans, samples: () => samples, close: async () => undefined },
    note: (span) => {
      spans.push(span)
      return PARENT
    },
  }
}

async function headersWith(tracer: Tracer | null) {
  const sender = new RecordingSender()
  const { pipeline } = build(sender, {}, () => T0, tracer)
  pipeline.know(emptyLog())
  pipeline.setConnected(T0)
  pipeline.take(asking('v1'))
  pipeline.take(position('v2', T0))
  await settle()
  await pipeline.stop(100)
  return new Map(sender.stored.filter(({ key }) => key !== null).map(({ key, headers }) => [key, headers]))
}

it('while nothing is traced no record has a header, even when a message asks for it', async () => {
  expect(await headersWith(null)).toEqual(new Map([['v1', undefined], ['v2', undefined]])) // biome-ignore format: a table
})

it('a message that asks for a trace gets it into its record, and a span that ends with its acknowledgement', async () => {
  const tracer = recorder(false)
  expect(await headersWith(tracer)).toEqual(new Map([['v1', { traceparent: PARENT }], ['v2', undefined]])) // biome-ignore format: a table
  expect(tracer.spans).toEqual([{ name: 'bridge: MQTT to Kafka', startMs: T0, endMs: T0, parent: PARENT }])
})

it('a sampled message begins a trace of its own', async () => {
  const headers = await headersWith(recorder(true))
  expect(headers.get('v2')?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
})
