import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { z } from 'zod'

/** A fix of a recorded day. */
export interface RecordedFix {
  readonly van: string
  readonly lat: number
  readonly lon: number
  readonly eventMs: number
  readonly arrivalMs: number
}

export interface Recording {
  /** In order of arrival; of equal arrivals in order of the file. */
  readonly fixes: readonly RecordedFix[]
  readonly badLines: readonly BadLine[]
  /** All bad lines, also those beyond the first that are kept. */
  readonly badCount: number
}

export interface BadLine {
  readonly line: number
  readonly reason: string
}

const LATEST_MS = Date.UTC(2100, 0, 1)
const KEPT_BAD_LINES = 20

const instant = z.number().int().min(0).lt(LATEST_MS)
/** Coordinates may be anything that a number is: it is the platform's work to refuse 0,0 and latitude 95. */
const row = z.object({
  van: z
    .string()
    .min(1)
    .max(300)
    // Half a surrogate pair fits no MQTT topic.
    .refine((van) => !/\p{Surrogate}/u.test(van), 'has half a surrogate pair'),
  lat: z.number(),
  lon: z.number(),
  event_ms: instant,
  arrival_ms: instant.optional(),
})

/** Reads JSON lines `{"van","lat","lon","event_ms"[,"arrival_ms"]}`. Bad lines are counted, the first of them kept with their numbers. */
export async function readRecording(path: string): Promise<Recording> {
  const fixes: RecordedFix[] = []
  const badLines: BadLine[] = []
  const names = new Map<string, string>()
  let badCount = 0
  let line = 0
  const input = createReadStream(path)
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
  for await (const text of lines) {
    line += 1
    if (text.trim() === '') continue
    const fix = parseLine(text)
    if (typeof fix === 'string') {
      badCount += 1
      if (badLines.length < KEPT_BAD_LINES) badLines.push({ line, reason: fix })
      continue
    }
    // One string a van, not one a line: a day has millions of lines.
    const van = names.get(fix.van) ?? fix.van
    names.set(van, van)
    fixes.push({ ...fix, van })
  }
  return { fixes: fixes.sort((a, b) => a.arrivalMs - b.arrivalMs), badLines, badCount }
}

/** The fix of a line, or the reason why there is none. */
export function parseLine(text: string): RecordedFix | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'is not JSON'
  }
  const parsed = row.safeParse(value)
  if (!parsed.success) return parsed.error.issues.map((issue) => `${issue.path.join('.') || 'line'}: ${issue.message}`).join('; ')
  const { van, lat, lon, event_ms: eventMs, arrival_ms: arrivalMs } = parsed.data
  return { van, lat, lon, eventMs, arrivalMs: arrivalMs ?? eventMs }
}
