import { z } from 'zod'

export interface ReceivedSpan {
  readonly traceId: string
  readonly program: string
  readonly name: string
  readonly startMs: number
  readonly endMs: number
  /** Ids of the traces that a batch is linked with. */
  readonly links: readonly string[]
}

const attribute = z.object({ key: z.string(), value: z.object({ stringValue: z.string().optional() }) })
const span = z.object({
  traceId: z.string(),
  name: z.string(),
  startTimeUnixNano: z.string(),
  endTimeUnixNano: z.string(),
  links: z.array(z.object({ traceId: z.string() })).default([]),
})
const request = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: z.array(attribute) }),
      scopeSpans: z.array(z.object({ spans: z.array(span) })),
    }),
  ),
})

const ms = (nano: string) => Number(BigInt(nano) / 1_000n) / 1_000

/** Spans of an OTLP/HTTP request in JSON; none when it is not one. */
export function collectSpans(body: string): ReceivedSpan[] {
  let parsed: z.infer<typeof request>
  try {
    parsed = request.parse(JSON.parse(body))
  } catch {
    return []
  }
  return parsed.resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const program = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '?'
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, name, startTimeUnixNano, endTimeUnixNano, links }) => ({
        ...{ traceId, program, name, startMs: ms(startTimeUnixNano), endMs: ms(endTimeUnixNano) },
        links: links.map((link) => link.traceId),
      })),
    )
  })
}

/** One line a span, in order of their start: when it began, how long it took. Batches, which are linked, come behind. */
export function spanTable(spans: readonly ReceivedSpan[], zeroMs: number, traceId: string): string {
  const rows = [...spans]
    .sort((a, b) => Number(a.traceId !== traceId) - Number(b.traceId !== traceId) || a.startMs - b.startMs)
    .map(({ program, name, startMs, endMs, ...of }) => {
      const linked = of.traceId === traceId ? '' : ' (linked)'
      return `${(startMs - zeroMs).toFixed(0).padStart(7)} ms  ${(endMs - startMs).toFixed(1).padStart(8)} ms  ${program.padEnd(18)} ${name}${linked}`
    })
  return `  begins at       takes\n${rows.join('\n')}\n`
}
