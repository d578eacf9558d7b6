import { type HandOverView, isName, madridDay, madridTimeOfDay, type TravelTotalsView } from '@km0/contracts'
import type { Dispatch } from '@km0/serving'
import { z } from 'zod'
import { Refusal, readBody } from '../guard.ts'
import { json, noteText, type Routes, sessionOf } from '../rest.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** A hand-over looks back so far at most, and a mute lasts so long at most. */
const LONGEST_MS = 31 * DAY_MS
/** A shift, when nobody says since when. */
const SHIFT_MS = 8 * HOUR_MS

export const muteBody = z.strictObject({
  kind: z.enum(['van', 'depot']),
  subject: z.string().refine(isName, 'is no name'),
  /** null: until somebody lifts it. */
  untilMs: z.number().int().min(0).max(4_102_444_800_000).nullable(),
  note: noteText,
})
export const liftBody = z.strictObject({ id: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER) })

export interface DispatchRestOptions {
  readonly store: Pick<Dispatch, 'mute' | 'unmute' | 'readHandOver' | 'readTravelTotals'>
  readonly nowMs: () => number
  readonly onStored: () => Promise<void>
}

/** Mutes, the hand-over, and totals of the hour and the day. */
export function dispatchRoutes({ store, nowMs, onStored }: DispatchRestOptions): Routes {
  return new Map([
    [
      '/api/mutes',
      {
        POST: async (request, response) => {
          const { scope, operator } = sessionOf(request)
          const command = await readBody(request, muteBody)
          const atMs = nowMs()
          if (command.untilMs !== null && (command.untilMs <= atMs || command.untilMs > atMs + LONGEST_MS)) {
            throw new Refusal(400, 'until when?', 'Give a time that is to come, within 31 days; null until somebody lifts it.')
          }
          const id = await store.mute(scope, { ...command, actor: operator, atMs })
          if (id === null) throw new Refusal(404, `no ${command.kind} ${command.subject} is known`, 'Use a name as GET /api/panel has it.')
          await onStored()
          json(response, 201, { id, ...command, actor: operator, atMs })
        },
      },
    ],
    [
      '/api/mutes/lift',
      {
        POST: async (request, response) => {
          const { scope, operator } = sessionOf(request)
          const { id } = await readBody(request, liftBody)
          if (!(await store.unmute(scope, id, operator, nowMs()))) {
            throw new Refusal(404, `mute ${id} is not in force`, 'Somebody has lifted it already, or it has run out.')
          }
          await onStored()
          json(response, 200, { id })
        },
      },
    ],
    [
      '/api/handover',
      {
        GET: async (request, response, url) => {
          const toMs = nowMs()
          const fromMs = sinceOf(url.searchParams.get('from'), toMs)
          const view: HandOverView = { nowMs: toMs, fromMs, ...(await store.readHandOver(sessionOf(request).scope, { fromMs, toMs })) }
          json(response, 200, view)
        },
      },
    ],
    [
      '/api/distances/totals',
      {
        GET: async (request, response) => {
          const atMs = nowMs()
          // The last whole hour.
          const hourMs = Math.floor(atMs / HOUR_MS) * HOUR_MS - HOUR_MS
          const totals = await store.readTravelTotals(sessionOf(request).scope, hourMs)
          const view: TravelTotalsView = { nowMs: atMs, hourMs, dayMs: madridDay(hourMs).startMs, totals }
          json(response, 200, view)
        },
      },
    ],
  ])
}

/** `HH:MM` of Madrid, the last time that the clock showed it; or milliseconds; a shift ago when nothing is given. */
export function sinceOf(text: string | null, nowMs: number): number {
  if (text === null || text === '') return nowMs - SHIFT_MS
  const clock = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text)
  if (clock !== null) {
    const minutes = Number(clock[1]) * 60 + Number(clock[2])
    const today = madridTimeOfDay(nowMs, minutes)
    return today <= nowMs ? today : madridTimeOfDay(madridDay(nowMs).startMs - HOUR_MS, minutes)
  }
  const ms = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!(ms >= nowMs - LONGEST_MS && ms <= nowMs)) {
    throw new Refusal(400, `since "${text.slice(0, 40)}"`, 'Give HH:MM, or milliseconds within the last 31 days.')
  }
  return ms
}
