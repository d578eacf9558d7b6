import {
  type Actor,
  type BackfillDifferenceView,
  type BackfillOneView,
  type BackfillProposals,
  type BackfillsView,
  type BackfillTrackView,
  EVERYTHING,
  isName,
  type LakeTrackPoint,
  type PositionsSettings,
} from '@km0/contracts'
import { backfillRequest, JOB_KINDS, planResult } from '@km0/contracts/backfill-payload'
import { BackfillRefusedError, type Backfills, type NightRuns, type Serving } from '@km0/serving'
import type { QueueClient } from '@km0/transport/queue'
import { z } from 'zod'
import { Refusal, readBody } from '../guard.ts'
import { type Handler, json, noteText, type Routes, requireEverything, sessionOf } from '../rest.ts'
import { askWorker } from './backfill-worker.ts'

const SHOWN = 50
const NIGHTS_SHOWN = 7
const DAY_MS = 86_400_000
const DIRTY_DAYS = 7
const TRACK_SPAN_MS = 2 * DAY_MS

const id = z.number().int().min(1)
export const previewBody = z.strictObject({ request: backfillRequest })
export const runBody = z.strictObject({ request: backfillRequest, reason: noteText })
export const publishBody = z.strictObject({ id, reason: noteText })
export const rollBackBody = z.strictObject({ publication: id, reason: noteText })
export const cancelBody = z.strictObject({ id })

export interface BackfillsRestOptions {
  readonly backfills: Pick<
    Backfills,
    'list' | 'publications' | 'read' | 'progress' | 'pastRate' | 'readLog' | 'difference' | 'publish' | 'rollBack' | 'cancel'
  >
  readonly serving: Pick<Serving, 'readDirtyPlan' | 'readMissingPoints'>
  readonly nights: Pick<NightRuns, 'list'>
  readonly queue: Pick<QueueClient, 'call'>
  /** Of the positions pipeline. */
  readonly rules: PositionsSettings
  readonly nowMs: () => number
}

/**
 * The REST interface of backfills: what was run and published, what would change, and the commands of the analyst. Workers compute; this only
 * asks them. A backfill is of all vans, so only those who see everything may.
 */
export function backfillsRoutes(options: BackfillsRestOptions): Routes {
  const { backfills, nights, queue, nowMs } = options
  const list = async (): Promise<BackfillsView> => {
    const [all, publications, dirty, runs] = await Promise.all([
      backfills.list(SHOWN),
      backfills.publications(SHOWN),
      proposals(options),
      nights.list(NIGHTS_SHOWN),
    ])
    return { nowMs: nowMs(), backfills: all, publications, dirty, nights: runs }
  }
  const one = async (version: number): Promise<BackfillOneView> => {
    const [backfill, progress, log, publications] = await Promise.all([
      backfills.read(version),
      backfills.progress(version, nowMs()),
      backfills.readLog(version),
      backfills.publications(SHOWN, version),
    ])
    if (backfill === null || progress === null)
      throw new Refusal(404, `there is no version ${version}`, 'GET /api/backfills lists those that are there.')
    return { nowMs: nowMs(), backfill, progress, log, publications }
  }
  const difference = async (version: number): Promise<BackfillDifferenceView> => ({
    nowMs: nowMs(),
    ...(await backfills.difference(version)),
  })
  return new Map<string, Readonly<Record<string, Handler>>>([
    [
      '/api/backfills',
      {
        GET: read(() => list()),
        POST: command(runBody, 202, async ({ request, reason }, actor) =>
          planResult.parse(await askWorker(queue, JOB_KINDS.plan, { request, actor, reason })),
        ),
      },
    ],
    ['/api/backfills/preview', { POST: preview(options) }],
    ['/api/backfills/one', { GET: read((url) => one(numberOf(url, 'id'))) }],
    ['/api/backfills/difference', { GET: read((url) => difference(numberOf(url, 'id'))) }],
    ['/api/backfills/track', { GET: read((url) => track(options, url)) }],
    [
      '/api/backfills/publish',
      { POST: command(publishBody, 200, (body, actor) => backfills.publish(body.id, { actor, reason: body.reason, atMs: nowMs() })) },
    ],
    [
      '/api/backfills/rollback',
      {
        POST: command(rollBackBody, 200, (body, actor) =>
          backfills.rollBack(body.publication, { actor, reason: body.reason, atMs: nowMs() }),
        ),
      },
    ],
    [
      '/api/backfills/cancel',
      {
        POST: command(cancelBody, 200, async (body) => {
          if (!(await backfills.cancel(body.id, nowMs()))) throw new BackfillRefusedError(`version ${body.id} is not running`)
          return { id: body.id }
        }),
      },
    ],
  ])
}

function read(answer: (url: URL) => Promise<unknown>): Handler {
  return async (request, response, url) => {
    requireEverything(request, 'backfills are')
    json(response, 200, await refusing(() => answer(url)))
  }
}

function command<Schema extends z.ZodType>(
  schema: Schema,
  status: number,
  work: (body: z.infer<Schema>, actor: Actor) => Promise<unknown>,
): Handler {
  return async (request, response) => {
    requireEverything(request, 'backfills are')
    const { operator } = sessionOf(request)
    const body = await readBody(request, schema)
    json(response, status, await refusing(() => work(body, operator)))
  }
}

/** Looks without changing anything. */
function preview({ queue }: BackfillsRestOptions): Handler {
  return async (request, response) => {
    requireEverything(request, 'backfills are')
    const body = await readBody(request, previewBody)
    json(response, 200, await askWorker(queue, JOB_KINDS.preview, body))
  }
}

/** Points a second while no large run has told, and what each backfill costs besides. */
const FIRST_RATE = 400_000
const EACH_MS = 500

async function proposals({ backfills, serving, rules, nowMs }: BackfillsRestOptions): Promise<BackfillProposals> {
  const plan = await serving.readDirtyPlan(EVERYTHING, {
    fromMs: nowMs() - DIRTY_DAYS * DAY_MS,
    toMs: nowMs() + DAY_MS,
    rules: { ...rules, maxGapMs: rules.maxAgeMs },
    allowedLatenessMs: rules.allowedLatenessMs,
  })
  return {
    proposals: plan.pieces.map(({ fromMs, toMs, vans, points }) => ({
      request: { pipeline: 'positions', fromMs, toMs, owners: vans },
      points,
    })),
    points: plan.points,
    waiting: plan.waiting,
    rowsToRead: plan.rowsToRead,
    expectedMs: Math.round(plan.pieces.length * EACH_MS + (1_000 * plan.rowsToRead) / ((await backfills.pastRate()) ?? FIRST_RATE)),
  }
}

/** The track of a van as the version has it, and without the points that what is served misses. */
async function track({ backfills, serving, queue, nowMs }: BackfillsRestOptions, url: URL): Promise<BackfillTrackView> {
  const van = url.searchParams.get('van') ?? ''
  const [fromMs, toMs] = [numberOf(url, 'fromMs'), numberOf(url, 'toMs')]
  if (!isName(van) || toMs <= fromMs || toMs - fromMs > TRACK_SPAN_MS) {
    throw new Refusal(400, 'which van, and when?', `Ask for ?id=VERSION&van=NAME&fromMs=&toMs=, at most ${TRACK_SPAN_MS / DAY_MS} days.`)
  }
  const version = await backfills.read(numberOf(url, 'id'))
  if (version === null) throw new Refusal(404, 'there is no such version', 'GET /api/backfills lists those that are there.')
  const after = (await askWorker(queue, JOB_KINDS.track, { van, fromMs, toMs, snapshot: version.snapshot })) as LakeTrackPoint[]
  const missing = new Set(await serving.readMissingPoints(van, { fromMs, toMs }))
  return { nowMs: nowMs(), van, before: after.filter(({ eventMs }) => !missing.has(eventMs)), after }
}

async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof BackfillRefusedError) throw new Refusal(409, error.message, 'GET /api/backfills shows what is there.')
    throw error
  }
}

function numberOf(url: URL, name: string): number {
  const text = url.searchParams.get(name) ?? ''
  if (!/^\d{1,15}$/.test(text)) throw new Refusal(400, `${name}: "${text.slice(0, 40)}" is no number`, `Give ?${name}=NUMBER.`)
  return Number(text)
}
