import { z } from 'zod'

const ANSWER_WITHIN_MS = 1_500
/** Somebody else's answer is not asked for again sooner. */
const KEPT_MS = 2_000

const STATUS = z.enum(['ok', 'degraded', 'down'])
const healthReport = z.object({
  status: STATUS,
  parts: z.record(z.string(), z.object({ status: STATUS, detail: z.string().optional() })).default({}),
})
const families = z.array(
  z.object({
    name: z.string(),
    values: z.array(
      z.object({
        labels: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
        value: z.number().nullable(),
        /** Which series of a histogram. */
        metricName: z.string().optional(),
      }),
    ),
  }),
)

export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

/** What a program says of itself; `health` null when it does not answer. */
export interface ProgramFacts {
  readonly name: string
  readonly health: z.infer<typeof healthReport> | null
  /** By name of the series: of a histogram `…_bucket`, `…_sum`, `…_count`. */
  readonly metrics: ReadonlyMap<string, readonly Sample[]>
}

/** Reads health and metrics of the platform's programs, at their health addresses and at `/metrics.json` beside. Never rejects, and never takes long. */
export class ProgramFactsReader {
  readonly #programs: ReadonlyMap<string, string>
  readonly #nowMs: () => number
  #kept: { readonly atMs: number; readonly facts: Promise<readonly ProgramFacts[]> } | null = null

  constructor(programs: ReadonlyMap<string, string>, nowMs: () => number = () => performance.now()) {
    this.#programs = programs
    this.#nowMs = nowMs
  }

  read(): Promise<readonly ProgramFacts[]> {
    const atMs = this.#nowMs()
    if (this.#kept === null || atMs - this.#kept.atMs > KEPT_MS) {
      this.#kept = { atMs, facts: Promise.all([...this.#programs].map(([name, url]) => readOne(name, url))) }
    }
    return this.#kept.facts
  }
}

async function readOne(name: string, healthUrl: string): Promise<ProgramFacts> {
  const [health, metrics] = await Promise.all([readJson(healthUrl, healthReport), readJson(new URL('/metrics.json', healthUrl), families)])
  return { name, health, metrics: seriesOf(metrics ?? []) }
}

/** Numbers that are none (NaN before a first value, null in JSON) are left out. */
function seriesOf(told: z.infer<typeof families>): Map<string, Sample[]> {
  const series = new Map<string, Sample[]>()
  for (const { name, values } of told) {
    series.set(name, [])
    for (const { labels, value, metricName = name } of values) {
      if (value !== null) series.set(metricName, [...(series.get(metricName) ?? []), { labels, value }])
    }
  }
  return series
}

async function readJson<Schema extends z.ZodType>(url: string | URL, schema: Schema): Promise<z.infer<Schema> | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
    return schema.parse(await response.json())
  } catch {
    return null
  }
}
