import { type HourRange, type OwnerDay, type SessionRule, type SessionSpan, sessionHours } from '@km0/backfill'
import type { BackfillRequest, HoursOfOwner } from '@km0/contracts'
import { countByOwnerAndDay, currentSnapshot, finalMarks, POSITIONS, STOCK_EVENTS, sessionsAcross } from '@km0/lake'
import type { SpanWithTail } from '@km0/serving'
import { type BackfillContext, RefusedError } from './context.ts'

/** A request looked at against one version of the lake and what is served now; nothing is computed yet. */
export interface Frame {
  readonly request: BackfillRequest
  readonly snapshot: number
  readonly epoch: number
  readonly offsets: Readonly<Record<string, number>>
  /** Least final mark of the partitions; null when there is none. */
  readonly finalMs: number | null
  /** Why it cannot be run now. */
  readonly refusal: string | null
  readonly owners: readonly string[]
  readonly ownerDays: readonly OwnerDay[]
  /** Vans whose sessions go beyond the range, or are followed beyond it. */
  readonly spans: readonly SpanWithTail[]
  readonly joined: readonly HoursOfOwner[]
  readonly held: readonly HoursOfOwner[]
}

const DAY_MS = 86_400_000
const iso = (ms: number) => new Date(ms).toISOString().replace('.000Z', 'Z')

/** Freezes the newest version of the lake and looks at what a request needs of it. */
export async function frameOf(context: BackfillContext, request: BackfillRequest): Promise<Frame> {
  const { lake, pipelines, store } = context
  const settings = pipelines[request.pipeline]
  const table = request.pipeline === 'positions' ? POSITIONS : STOCK_EVENTS
  const snapshot = await currentSnapshot(lake)
  const marks = await finalMarks(lake, { table, delayMs: settings.delayMs, allowedLatenessMs: settings.allowedLatenessMs, snapshot })
  const leastMs = Math.min(...marks.map(({ finalMs }) => finalMs))
  const finalMs = Number.isFinite(leastMs) ? leastMs : null
  const reachMs = request.pipeline === 'positions' ? settings.windowSizeMs : 0
  const counts = await countByOwnerAndDay(lake, {
    table,
    fromMs: request.fromMs - reachMs,
    toMs: request.toMs,
    snapshot,
    owners: request.owners,
  })
  const found = new Set(counts.map(({ owner }) => owner))
  const served = request.owners ?? (await store.servedOwners(request.pipeline, request.fromMs, request.toMs))
  const owners = [...new Set([...found, ...served])].sort((a, b) => (a < b ? -1 : 1))
  const rule = { finalMs: finalMs ?? Number.NEGATIVE_INFINITY, sessionGapMs: pipelines.positions.sessionGapMs }
  const sessions =
    request.pipeline === 'positions'
      ? await lookAtSessions(context, request, [...found], rule, snapshot)
      : { spans: [], joined: [], held: [] }
  return {
    request,
    snapshot,
    epoch: Math.max(0, ...marks.map(({ epoch }) => epoch)),
    offsets: Object.fromEntries(marks.map(({ partition, nextOffset }) => [partition, nextOffset])),
    finalMs,
    refusal: refusalOf(request, finalMs, owners, marks),
    owners,
    ownerDays: withNextDay(counts, reachMs),
    ...sessions,
  }
}

function refusalOf(
  request: BackfillRequest,
  finalMs: number | null,
  owners: readonly string[],
  marks: readonly { readonly partition: number; readonly finalMs: number }[],
): string | null {
  if (finalMs === null) return 'the lake holds nothing of this topic yet: start the role `lake` of the stream, and try again'
  if (finalMs < request.toMs) {
    const behind = marks.filter((mark) => mark.finalMs < request.toMs).map(({ partition }) => partition)
    const lastMs = Math.floor(finalMs / 3_600_000) * 3_600_000
    return `the lake is final up to ${iso(finalMs)} only (partition ${behind.join(', ')}): end the range at ${iso(lastMs)} at the latest, or wait`
  }
  if (owners.length === 0) return 'nothing is there in this range, neither in the lake nor served'
  return null
}

/** A window may end on the day after its last point: then the owner is work of that day too. */
function withNextDay(counts: readonly OwnerDay[], reachMs: number): OwnerDay[] {
  if (reachMs === 0) return [...counts]
  const known = new Map(counts.map((row) => [`${row.owner}\u0000${row.day}`, row]))
  for (const { owner, day } of counts) {
    const key = `${owner}\u0000${day + 1}`
    if (!known.has(key)) known.set(key, { owner, day: day + 1, points: 0 })
  }
  return [...known.values()]
}

type Sessions = Pick<Frame, 'spans' | 'joined' | 'held'>

/** Reads the sessions that lie across the borders, and across those that they bring in, until no border is crossed any more. */
async function lookAtSessions(
  { lake, store }: BackfillContext,
  request: BackfillRequest,
  vans: readonly string[],
  rule: SessionRule,
  snapshot: number,
): Promise<Sessions> {
  const { fromMs, toMs } = request
  const served = spansByVan(await store.servedSessions(vans, fromMs - DAY_MS, toMs + DAY_MS))
  const fresh = new Map<string, SessionSpan[]>(vans.map((van) => [van, []]))
  const seen = new Set<string>()
  // A session that is open at the end of a final log need not reach the end of the range.
  const openMs = rule.finalMs - rule.sessionGapMs
  const first = openMs < toMs ? [fromMs, toMs, openMs] : [fromMs, toMs]
  let borders = vans.flatMap((van) => first.map((atMs) => ({ van, atMs })))
  while (borders.length > 0) {
    for (const { van, atMs } of borders) seen.add(`${van}\u0000${atMs}`)
    for (const { van, ...span } of await sessionsAcross(lake, borders, rule.sessionGapMs, snapshot)) addSpan(fresh.get(van) ?? [], span)
    borders = vans
      .flatMap((van) => {
        const { needed } = sessionHours(request, served.get(van) ?? [], fresh.get(van) ?? [], rule)
        return [needed.fromMs, needed.toMs].map((atMs) => ({ van, atMs }))
      })
      .filter(({ van, atMs }) => !seen.has(`${van}\u0000${atMs}`))
  }
  const all: { spans: SpanWithTail[]; joined: HoursOfOwner[]; held: HoursOfOwner[] } = { spans: [], joined: [], held: [] }
  for (const van of vans) addVan(all, van, request, served.get(van) ?? [], fresh.get(van) ?? [], rule)
  return all
}

function addVan(
  all: { spans: SpanWithTail[]; joined: HoursOfOwner[]; held: HoursOfOwner[] },
  owner: string,
  asked: HourRange,
  served: readonly SessionSpan[],
  fresh: readonly SessionSpan[],
  rule: SessionRule,
): void {
  const { needed, range } = sessionHours(asked, served, fresh, rule)
  // New points up to a gap after the last session that begins in the range can change it.
  const lastMs = Math.max(needed.toMs - 1, ...fresh.filter(({ startMs }) => startMs < needed.toMs).map(({ endMs }) => endMs))
  all.spans.push({ owner, fromMs: needed.fromMs, toMs: needed.toMs, tailMs: lastMs + rule.sessionGapMs + 1 })
  if (needed.fromMs < asked.fromMs)
    all.joined.push({ owner, fromMs: needed.fromMs, toMs: asked.fromMs, why: 'a session that starts there reaches into the range' })
  if (needed.toMs > asked.toMs)
    all.joined.push({
      owner,
      fromMs: asked.toMs,
      toMs: needed.toMs,
      why: 'a session of the range covers what is served there as another one',
    })
  const openMs = Math.max(asked.fromMs, range?.toMs ?? asked.fromMs)
  if (openMs < asked.toMs) all.held.push({ owner, fromMs: openMs, toMs: asked.toMs, why: 'a session that starts there is not closed yet' })
}

function addSpan(spans: SessionSpan[], span: SessionSpan): void {
  if (!spans.some(({ startMs }) => startMs === span.startMs)) spans.push(span)
}

function spansByVan(rows: readonly (SessionSpan & { readonly van: string })[]): Map<string, SessionSpan[]> {
  const groups = new Map<string, SessionSpan[]>()
  for (const { van, startMs, endMs } of rows) {
    const group = groups.get(van) ?? []
    groups.set(van, group)
    group.push({ startMs, endMs })
  }
  return groups
}

/** The frame of a backfill that is to be run. Throws RefusedError when it cannot be. */
export function runnable(frame: Frame): Frame & { readonly finalMs: number } {
  if (frame.refusal !== null || frame.finalMs === null) throw new RefusedError(frame.refusal ?? 'the lake is empty')
  return { ...frame, finalMs: frame.finalMs }
}
