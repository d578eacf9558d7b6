import type { BackfillPreview, BackfillRequest, OwnerCount, RefusedCount } from '@km0/contracts'
import { countReasons, DEAD_LETTERS, LATE_POSITIONS, LATE_STOCK, type ReasonCount, STOCK_DEAD_LETTERS } from '@km0/lake'
import type { BackfillContext } from './context.ts'
import { type Frame, frameOf } from './frame.ts'
import { findAnswer } from './plan.ts'
import { sentencesOf } from './preview-sentences.ts'
import { codeOf, questionOf, rulesOf } from './rules.ts'

/** Points a second before any run has told: reading, computing and storing on one core. */
const FIRST_RATE = 500_000
/** Freezing, cutting and comparing. */
const OVERHEAD_MS = 1_000

/** Says what a backfill would do. Computes no row and stores nothing. */
export async function preview(context: BackfillContext, request: BackfillRequest): Promise<BackfillPreview> {
  const { store, pipelines } = context
  const frame = await frameOf(context, request)
  const rows = frame.ownerDays.reduce((sum, { points }) => sum + points, 0)
  const question = questionOf(request, codeOf(pipelines, request.pipeline), rulesOf(pipelines, request.pipeline))
  const known = frame.refusal === null ? await findAnswer(context, frame, question) : null
  const late = await lateOf(context, frame)
  const rate = (await store.pastRate()) ?? FIRST_RATE
  const preview = {
    request,
    snapshot: frame.snapshot,
    finalMs: frame.finalMs,
    refusal: frame.refusal,
    hours: (request.toMs - request.fromMs) / 3_600_000,
    owners: frame.owners.length,
    rows,
    expectedMs: Math.round((rows / rate) * 1_000) + OVERHEAD_MS,
    late,
    refused: await refusedOf(context, frame),
    // Of a log that is not final yet nobody knows.
    joined: frame.refusal === null ? frame.joined : [],
    held: frame.refusal === null ? frame.held : [],
    version: known?.id ?? null,
    changesNothing: await changesNothing(context, frame, late, known?.state === 'ready' ? known.id : null),
  }
  return { ...preview, says: sentencesOf(preview) }
}

/** Either nothing was late and nothing but live is served there, or the answer is known and does not differ. */
async function changesNothing(
  { store }: BackfillContext,
  frame: Frame,
  late: BackfillPreview['late'],
  ready: number | null,
): Promise<boolean> {
  if (ready !== null) {
    const { added, removed, changed, isServed } = await store.difference(ready)
    if (!isServed) return added + removed + changed === 0
    const view = await store.read(ready)
    return view !== null && view.servedHours >= view.hours
  }
  return frame.refusal === null && late.tard + late.parcial === 0 && !(await store.hasPointers(frame.request))
}

async function lateOf({ lake, pipelines }: BackfillContext, { request, snapshot }: Frame): Promise<BackfillPreview['late']> {
  const isPositions = request.pipeline === 'positions'
  const { windowSizeMs, maxSegmentMs } = pipelines.positions
  const counts = await countReasons(lake, {
    table: isPositions ? LATE_POSITIONS : LATE_STOCK,
    // A point counts in windows that end after it, and as the beginning of a step to a later one.
    fromMs: request.fromMs - (isPositions ? windowSizeMs + maxSegmentMs : 0),
    toMs: request.toMs,
    by: 'event',
    snapshot,
    owners: isPositions ? request.owners : null,
  })
  const owners = new Map<string, { owner: string; tard: number; parcial: number }>()
  for (const { owner, reason, count } of counts) {
    const name = isPositions ? (owner ?? '') : marketOf(owner)
    if (request.owners !== null && !request.owners.includes(name)) continue
    const row = owners.get(name) ?? { owner: name, tard: 0, parcial: 0 }
    owners.set(name, row)
    if (reason === 'tard') row.tard += count
    if (reason === 'parcial') row.parcial += count
  }
  const all: OwnerCount[] = [...owners.values()].sort((a, b) => b.tard + b.parcial - a.tard - a.parcial)
  const sum = (of: (row: OwnerCount) => number) => all.reduce((total, row) => total + of(row), 0)
  return { tard: sum((row) => row.tard), parcial: sum((row) => row.parcial), owners: all }
}

/** Key of a late stock event is `producte|mercat`; a name holds no bar. */
const marketOf = (key: string | null) => key?.slice(key.indexOf('|') + 1) ?? ''

/** Dead letters whose day the range is: by arrival, since the event time of a wrong clock is of another day. */
async function refusedOf({ lake }: BackfillContext, { request, snapshot }: Frame): Promise<RefusedCount[]> {
  const isPositions = request.pipeline === 'positions'
  const counts = await countReasons(lake, {
    table: isPositions ? DEAD_LETTERS : STOCK_DEAD_LETTERS,
    fromMs: request.fromMs,
    toMs: request.toMs,
    by: 'arrival',
    snapshot,
    owners: null,
  })
  const isAsked = ({ owner }: ReasonCount) => !isPositions || request.owners === null || owner === null || request.owners.includes(owner)
  const byReason = new Map<string, ReasonCount[]>()
  for (const row of counts.filter(isAsked)) {
    const reason = row.reason ?? 'unknown'
    byReason.set(reason, [...(byReason.get(reason) ?? []), row])
  }
  return [...byReason].map(([reason, rows]) => ({
    reason,
    count: rows.reduce((sum, row) => sum + row.count, 0),
    owners: rows.flatMap(({ owner }) => (owner === null ? [] : [owner])),
    aheadMs: rows[0]?.aheadMs ?? null,
  }))
}
