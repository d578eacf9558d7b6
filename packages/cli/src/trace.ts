import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { EVERYTHING, positionTopic } from '@km0/contracts'
import { closeServer, listen, newTraceparent, openTracer, parseTraceparent } from '@km0/runtime'
import { openServing } from '@km0/serving'
import { openMqttPublisher } from '@km0/transport/mqtt-publisher'
import { z } from 'zod'
import { findDatabaseUrl, findMqttUrl } from './addresses.ts'
import { type Command, CommandError } from './command.ts'
import { collectSpans, type ReceivedSpan, spanTable } from './trace-spans.ts'

const DEFAULT_OTLP_URL = 'http://127.0.0.1:4318'
const PUBLISHED_WITHIN_MS = 10_000
const DAY_MS = 86_400_000
/** A watermark that is so far behind is no delay: the platform plays the past. */
const PLAYS_PAST_MS = 180_000
/** After the last span, so long without another one means that there is none. */
const QUIET_MS = 2_000

const coordinate = (most: number) => z.coerce.number().min(-most).max(most)

export const trace: Command = {
  words: ['trace'],
  summary: 'publish one position of a van and print where it spends its time',
  help: `km0 trace VAN [--lat N --lon N] [--wait SECONDS]

  Publishes one position over MQTT that asks to be traced, where the van was seen last, and prints the spans that the programs send of it:
  bridge, stream positions, PostgreSQL, the panel's socket. The programs must run with KM0_OTLP_URL:

    KM0_OTLP_URL=${DEFAULT_OTLP_URL} npm start

  The command receives the spans there itself, when nobody else listens; where a collector does, it prints the id of the trace to look for.
  --lat, --lon  where; needed for a van that was not seen in the last day
  --wait        how long it waits for spans; default 15
  Exit code: 0 spans came, or a collector has them; 1 none came.
  Takes MQTT_URL and DATABASE_URL, or the platform that \`npm start\` runs here.`,
  run: async (args) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { lat: { type: 'string' }, lon: { type: 'string' }, wait: { type: 'string', default: '15' } },
    })
    const [van] = positionals
    if (van === undefined || positionals.length > 1) throw new CommandError('name one van: km0 trace VAN')
    const waitMs = Number(values.wait) * 1_000
    if (!(waitMs > 0)) throw new CommandError('--wait takes seconds')
    const where = await placeOf(van, values.lat, values.lon)
    const parent = newTraceparent()
    const traceId = parseTraceparent(parent)?.traceId ?? ''
    const url = process.env.KM0_OTLP_URL || DEFAULT_OTLP_URL
    const spans: ReceivedSpan[] = []
    const receiver = await receive(url, (span) => spans.push(span))
    try {
      const times = await publish(van, { ...where, traceparent: parent })
      const published: ReceivedSpan = { ...{ traceId, links: [], program: 'km0', name: 'MQTT, until its PUBACK' }, ...times }
      process.stdout.write(`trace ${traceId} of ${van}\n`)
      if (receiver === null) {
        const tracer = openTracer('km0', { KM0_OTLP_URL: url })
        tracer?.note({ ...published, parent, links: [] })
        await tracer?.close()
        process.stdout.write(`a collector listens at ${url}: look for the trace in its store\n`)
        return 0
      }
      await untilQuiet(spans, traceId, waitMs)
      const own = spans.filter((span) => span.traceId === traceId || span.links.includes(traceId))
      process.stdout.write(spanTable([published, ...own], times.startMs, traceId))
      if (own.length === 0) process.stderr.write(`no program has sent a span: do they run with KM0_OTLP_URL=${url}?\n`)
      else if (!own.some(({ program }) => program === 'dashboard'))
        process.stderr.write('it has not come to the panel: refused, or older than what the van has sent since (`km0 dead-letters list`)\n')
      return own.length > 0 ? 0 : 1
    } finally {
      if (receiver !== null) await closeServer(receiver)
    }
  },
}

interface Position {
  readonly lat: number
  readonly lon: number
  /** Null: the present. */
  readonly eventMs: number | null
}

/** Where the van is, and when: a platform whose clock is not at the present, since it plays the past, is sent what is now there. */
async function placeOf(van: string, lat: string | undefined, lon: string | undefined): Promise<Position> {
  const given = z.object({ lat: coordinate(90), lon: coordinate(180) }).safeParse({ lat, lon })
  if ((lat !== undefined || lon !== undefined) && !given.success) throw new CommandError('--lat and --lon take degrees, both')
  const serving = openServing({ databaseUrl: findDatabaseUrl(process.env), applicationName: 'km0-cli' })
  try {
    const nowMs = Date.now()
    const last = (await serving.readTrack(EVERYTHING, van, { fromMs: nowMs - DAY_MS, toMs: nowMs, maxPoints: 200 })).at(-1)
    const watermarks = [...(await serving.readMarks()).values()].flatMap(({ watermarkMs }) => watermarkMs ?? [])
    const behind = watermarks.length > 0 && nowMs - Math.max(...watermarks) > PLAYS_PAST_MS
    const eventMs = behind && last !== undefined ? last[2] + 1_000 : null
    if (given.success) return { ...given.data, eventMs }
    if (last === undefined) throw new CommandError(`${van} was not seen in the last day: say where it is with --lat and --lon`)
    return { lat: last[1], lon: last[0], eventMs }
  } finally {
    await serving.close()
  }
}

/** Publishes over a connection that stands already: what it takes to connect is nobody's time. */
async function publish(van: string, { eventMs, ...rest }: Position & { traceparent: string }): Promise<{ startMs: number; endMs: number }> {
  const publisher = openMqttPublisher({ url: findMqttUrl(process.env) })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new CommandError('the MQTT broker does not take the position: is MQTT_URL right?')),
      PUBLISHED_WITHIN_MS,
    )
  })
  const send = async () => {
    while (!publisher.connected()) await new Promise((resolve) => setTimeout(resolve, 20))
    const startMs = Date.now()
    await publisher.publish(positionTopic(van), JSON.stringify({ repartidor: van, ...rest, data_ms: eventMs ?? startMs }))
    return { startMs, endMs: Date.now() }
  }
  try {
    return await Promise.race([send(), late])
  } finally {
    clearTimeout(timer)
    await publisher.close(true)
  }
}

/** Listens where spans are sent to; null when somebody else does. */
async function receive(url: string, onSpan: (span: ReceivedSpan) => void) {
  const { hostname, port } = new URL(url)
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      for (const span of collectSpans(Buffer.concat(chunks).toString('utf8'))) onSpan(span)
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('{}')
    })
  })
  try {
    await listen(server, hostname, Number(port || 4318))
    return server
  } catch {
    return null
  }
}

async function untilQuiet(spans: readonly ReceivedSpan[], traceId: string, waitMs: number): Promise<void> {
  const endMs = Date.now() + waitMs
  let seen = 0
  let newestMs = Number.POSITIVE_INFINITY
  while (Date.now() < endMs && Date.now() - newestMs < QUIET_MS) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    const count = spans.filter((span) => span.traceId === traceId).length
    if (count > seen) newestMs = Date.now()
    seen = count
  }
}
