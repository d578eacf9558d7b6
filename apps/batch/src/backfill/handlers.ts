import { finishPayload, JOB_KINDS, piecePayload, planPayload, previewPayload, trackPayload } from '@km0/contracts/backfill-payload'
import type { z } from 'zod'
import { type BackfillContext, RefusedError } from './context.ts'
import { finish, runPiece, type Share } from './piece.ts'
import { plan } from './plan.ts'
import { preview } from './preview.ts'
import { track } from './track.ts'

/** A kind of job as a worker process does it; what it takes is parsed here. */
export type Handler = (context: BackfillContext, payload: unknown, share: Share) => Promise<unknown>

export const HANDLERS: Readonly<Record<string, Handler>> = {
  [JOB_KINDS.preview]: (context, payload) => preview(context, parse(previewPayload, payload).request),
  [JOB_KINDS.plan]: (context, payload) => {
    const { request, actor, reason } = parse(planPayload, payload)
    return plan(context, request, { actor, reason })
  },
  [JOB_KINDS.piece]: async (context, payload, share) => {
    const { version, piece } = parse(piecePayload, payload)
    const noted: Share = async (part) => {
      await context.store.notePieceShare(version, piece, part)
      await share(part)
    }
    const outcome = await runPiece(context, version, piece, noted)
    if (outcome !== 'stopped') await finish(context, version)
    return outcome
  },
  [JOB_KINDS.finish]: (context, payload) => finish(context, parse(finishPayload, payload).version),
  [JOB_KINDS.track]: (context, payload) => track(context, parse(trackPayload, payload)),
}

function parse<Schema extends z.ZodType>(schema: Schema, payload: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(payload)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw new RefusedError(`the job does not fit: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`)
}
