import type { BackfillDifference, BackfillProgress, BackfillRequest, BackfillView, DifferenceHour, PublicationView } from '@km0/contracts'
import { asTable } from './lake-sql.ts'

const minute = (ms: number) => `${new Date(ms).toISOString().slice(0, 16)}Z`
export const kilometres = (mm: number) => (mm / 1e6).toFixed(3)

/** Range and owners in a few words. */
export function rangeText({ fromMs, toMs, owners, pipeline }: BackfillRequest): string {
  const all = pipeline === 'positions' ? 'all vans' : 'all markets'
  const who =
    owners === null ? all : owners.length > 3 ? `${owners.slice(0, 3).join(', ')} and ${owners.length - 3} more` : owners.join(', ')
  return `${minute(fromMs)} to ${minute(toMs)}, ${who}`
}

export function versionsTable(versions: readonly BackfillView[]): string {
  return asTable({
    columns: ['version', 'what', 'range', 'state', 'served', 'rows', 'by', 'asked', 'reason'],
    rows: versions.map((view) => [
      String(view.id),
      view.request.pipeline,
      rangeText(view.request),
      view.state,
      servedText(view),
      String(view.rows),
      view.actor.name,
      minute(view.requestedAtMs),
      view.reason,
    ]),
  })
}

function servedText({ hours, servedHours }: BackfillView): string {
  if (servedHours === 0) return 'no'
  return servedHours >= hours ? 'yes' : `${Math.round((100 * servedHours) / hours)} %`
}

export function publicationsTable(publications: readonly PublicationView[]): string {
  return asTable({
    columns: ['publication', 'action', 'version', 'undoes', 'hours', 'by', 'when', 'reason'],
    rows: publications.map((row) => [
      String(row.id),
      row.action,
      String(row.version),
      row.undoes === null ? '' : String(row.undoes),
      String(row.hours),
      row.actor.name,
      minute(row.atMs),
      row.reason,
    ]),
  })
}

const BAR_CHARACTERS = 30

/** One line: bar, share, rate, what is left. */
export function progressLine({ points, pointsDone, pieces, piecesDone, pointsPerSecond, leftMs, days }: BackfillProgress): string {
  const share = points === 0 ? (pieces === 0 ? 1 : piecesDone / pieces) : pointsDone / points
  const full = Math.round(share * BAR_CHARACTERS)
  const bar = `${'#'.repeat(full)}${'.'.repeat(BAR_CHARACTERS - full)}`
  const rate = pointsPerSecond === null ? '' : `, ${Math.round(pointsPerSecond / 1_000)} k points/s`
  const left = leftMs === null ? '' : `, ${Math.ceil(leftMs / 1_000)} s left`
  const day = days.find((row) => row.pointsDone < row.points)
  const at = day === undefined || days.length === 1 ? '' : `, day ${new Date(day.dayMs).toISOString().slice(0, 10)}`
  return `[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %${rate}${left}${at}`
}

/** Totals, and a line a van and hour; `hours` false leaves the hours out and gives a line a van. */
export function differenceText(difference: BackfillDifference, byHour: boolean): string {
  const { added, removed, changed, beforeMm, afterMm, hours } = difference
  if (hours.length === 0) return `version ${difference.id} changes nothing of what is served\n`
  const against = difference.isServed ? 'is served; against what was served before' : 'against what is served'
  const head = `version ${difference.id} ${against}: ${added} rows more, ${removed} less, ${changed} others; in the hours that differ ${kilometres(beforeMm)} km become ${kilometres(afterMm)} km\n\n`
  const groups = new Map<string, DifferenceHour[]>()
  for (const hour of hours) {
    const key = byHour ? `${hour.owner}\u0000${hour.hourMs}` : hour.owner
    groups.set(key, [...(groups.get(key) ?? []), hour])
  }
  const rows = [...groups.values()].map((group) => {
    const sum = (of: (hour: DifferenceHour) => number) => group.reduce((total, hour) => total + of(hour), 0)
    const travel = group.filter(({ kind }) => kind === 'travel')
    const [before, after] = [sum((hour) => hour.beforeMm ?? 0), sum((hour) => hour.afterMm ?? 0)]
    return [
      group[0]?.owner ?? '',
      ...(byHour ? [minute(group[0]?.hourMs ?? 0)] : []),
      String(sum((hour) => hour.added)),
      String(sum((hour) => hour.removed)),
      String(sum((hour) => hour.changed)),
      ...(travel.length === 0 ? ['', '', ''] : [kilometres(before), kilometres(after), signed(after - before)]),
    ]
  })
  const columns = ['who', ...(byHour ? ['hour'] : []), 'added', 'removed', 'changed', 'km now', 'km then', 'km more']
  return head + asTable({ columns, rows })
}

const signed = (mm: number) => `${mm >= 0 ? '+' : ''}${kilometres(mm)}`
