import {
  calendarsOf,
  type Depot,
  EVERYTHING,
  type MuteView,
  metresBetween,
  type NoSignalEvent,
  type RegisteredVan,
  type ShiftCalendar,
} from '@km0/contracts'
import { readMutes } from '../dispatch/mutes.ts'
import { readShifts } from '../dispatch/register-store.ts'
import type { Client } from '../pool.ts'
import { readDepots, readRegistered } from '../read-panel.ts'

/** Whose silence nobody is to be told of: what somebody has muted, and vans that nobody expects to hear. */
export interface Quiet {
  readonly registered: ReadonlyMap<string, RegisteredVan>
  readonly depots: ReadonlyMap<string, Depot>
  readonly calendars: ReadonlyMap<string, ShiftCalendar>
  readonly mutes: readonly MuteView[]
  /** A van without calendar whose last point is nearer to its depot is at the depot. */
  readonly depotDistanceM: number
}

export async function readQuiet(client: Client, nowMs: number, depotDistanceM: number): Promise<Quiet> {
  const depots = await readDepots(client, EVERYTHING)
  const registered = await readRegistered(client, EVERYTHING)
  return {
    depots: new Map(depots.map((depot) => [depot.id, depot])),
    registered: new Map(registered.map((van) => [van.van, van])),
    calendars: calendarsOf(depots, await readShifts(client, EVERYTHING)),
    mutes: await readMutes(client, EVERYTHING, nowMs),
    depotDistanceM,
  }
}

/** Whether a silence is told to nobody: as the panel does not list it at the time of the event. */
export function isQuiet(event: Pick<NoSignalEvent, 'van' | 'atMs' | 'lat' | 'lon'>, quiet: Quiet): boolean {
  const van = quiet.registered.get(event.van)
  const depotId = van?.depotId ?? null
  const isMuted = quiet.mutes.some(
    ({ kind, subject, untilMs }) => subject === (kind === 'van' ? event.van : depotId) && (untilMs === null || untilMs > event.atMs),
  )
  if (isMuted) return true
  if (van === undefined) return false
  if ((van.inServiceFromMs ?? Number.NEGATIVE_INFINITY) > event.atMs || (van.inServiceToMs ?? Number.POSITIVE_INFINITY) <= event.atMs)
    return true
  const calendar = quiet.calendars.get(depotId ?? '')
  if (calendar !== undefined) return calendar.at(event.atMs).shift === null
  const depot = quiet.depots.get(depotId ?? '')
  const { lat, lon } = event
  return depot !== undefined && lat !== null && lon !== null && metresBetween(depot, { lat, lon }) <= quiet.depotDistanceM
}
