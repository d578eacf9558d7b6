import { cutPieces } from '@km0/backfill'
import type { BackfillRequest } from '@km0/contracts'
import type { PlanResult } from '@km0/contracts/backfill-payload'
import { countNewer, POSITIONS, STOCK_EVENTS } from '@km0/lake'
import type { Command, FrozenVersion } from '@km0/serving'
import type { BackfillContext } from './context.ts'
import { type Frame, frameOf, runnable } from './frame.ts'
import { codeOf, naturalIdOf, questionOf, rulesOf } from './rules.ts'

/**
 * Freezes and cuts a backfill. When the newest version of the same question would be computed from the very same records, that one is the
 * answer: it is put to work again when it had failed or was cancelled, and only what is missing is computed. Throws RefusedError.
 */
export async function plan(context: BackfillContext, request: BackfillRequest, by: Omit<Command, 'atMs'>): Promise<PlanResult> {
  const { store, pipelines } = context
  const rules = rulesOf(pipelines, request.pipeline)
  const code = codeOf(pipelines, request.pipeline)
  const question = questionOf(request, code, rules)
  return store.planning(question, async () => {
    const frame = runnable(await frameOf(context, request))
    const known = await findAnswer(context, frame, question)
    const atMs = context.nowMs()
    if (known !== null) {
      const resumed = await store.resumeVersion(known.id, frame.snapshot, atMs)
      if (resumed) await store.writeLog(known.id, `${by.actor.name} puts it to work again: only what is missing is computed`, atMs)
      return { version: known.id, isNew: false }
    }
    const pieces = cutPieces(request, frame.ownerDays, frame.spans, context.limits.pointsPerPiece)
    const { id } = await store.createVersion(
      {
        naturalId: naturalIdOf(question, frame.snapshot, frame.finalMs),
        question,
        request,
        code,
        settings: rules,
        sessionGapMs: pipelines.positions.sessionGapMs,
        snapshot: frame.snapshot,
        epoch: frame.epoch,
        offsets: frame.offsets,
        finalMs: frame.finalMs,
        owners: frame.owners,
        spans: frame.spans,
        pieces,
      },
      { ...by, atMs },
    )
    const points = pieces.reduce((sum, piece) => sum + piece.points, 0)
    const what = request.pipeline === 'positions' ? 'vans' : 'markets'
    await store.writeLog(
      id,
      `version ${frame.snapshot} of the lake frozen: ${points} points of ${frame.owners.length} ${what} in ${pieces.length} pieces`,
      atMs,
    )
    return { version: id, isNew: true }
  })
}

/** The version that this frame would compute again, record for record; null when there is none. */
export async function findAnswer({ lake, store }: BackfillContext, frame: Frame, question: string): Promise<FrozenVersion | null> {
  const known = await store.findAnswer(question)
  if (known === null || !holdsAll(known, frame)) return null
  const { request } = frame
  const isPositions = request.pipeline === 'positions'
  const { maxAgeMs } = known.settings as { readonly maxAgeMs: number }
  const newer = await countNewer(lake, {
    table: isPositions ? POSITIONS : STOCK_EVENTS,
    // A point far before the range is the other end of a gap in it.
    fromMs: Math.min(request.fromMs, ...known.spans.map(({ fromMs }) => fromMs)) - (isPositions ? maxAgeMs : 0),
    toMs: request.toMs,
    snapshot: frame.snapshot,
    owners: request.owners,
    epoch: known.epoch,
    offsets: known.offsets,
    tails: new Map(known.spans.map(({ owner, tailMs }) => [owner, tailMs])),
  })
  return newer === 0 ? known : null
}

/** What is served may have changed meanwhile, so that sessions of more hours are needed now. */
function holdsAll(known: FrozenVersion, frame: Frame): boolean {
  if (known.finalMs < frame.request.toMs) return false
  const spanOf = new Map(known.spans.map((span) => [span.owner, span]))
  return frame.spans.every(({ owner, fromMs, toMs }) => {
    const holds = spanOf.get(owner)
    return holds !== undefined && holds.fromMs <= fromMs && holds.toMs >= toMs
  })
}
