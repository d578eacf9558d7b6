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

/**
 * One line a span, in order of their start: when it began, how long it took; what lies between two is a line of its own, on the way through Kafka or
 * waiting for a batch. Batches, which are linked, come behind. The last line is the whole.
 */
export function spanTable(spans: readonly ReceivedSpan[], zeroMs: number, traceId: string): string {
  const inOrder = [...spans].sort((a, b) => a.startMs - b.startMs)
  const own = inOrder.filter((span) => span.traceId === traceId)
  const row = (startMs: number, endMs: number, program: string, name: string) =>
    `${(startMs - zeroMs).toFixed(0).padStart(7)} ms  ${(endMs - startMs).toFixed(1).padStart(8)} ms  ${program.padEnd(18)} ${name}`
  const rows: string[] = []
  let [reachedMs, betweenMs] = [zeroMs, 0]
  for (const { program, name, startMs, endMs } of own) {
    if (startMs > reachedMs) {
      rows.push(row(reachedMs, startMs, '', '(on the way)'))
      betweenMs += startMs - reachedMs
    }
    rows.push(row(startMs, endMs, program, name))
    reachedMs = Math.max(reachedMs, endMs)
  }
  for (const { program, name, startMs, endMs } of inOrder.filter((span) => span.traceId !== traceId))
    rows.push(row(startMs, endMs, program, `${name} (linked)`))
  const whole = `${(reachedMs - zeroMs).toFixed(0)} ms in all, ${betweenMs.toFixed(0)} ms of it on the way from one program to the next`
  return `  begins at       takes\n${rows.join('\n')}\n${whole}\n`
}
