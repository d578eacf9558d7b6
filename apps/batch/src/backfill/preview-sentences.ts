import type { BackfillPreview, HoursOfOwner, RefusedCount } from '@km0/contracts'

const MINUTE_MS = 60_000

/** A preview in sentences, most important first. */
export function sentencesOf(preview: Omit<BackfillPreview, 'says'>): string[] {
  const { refusal, late, changesNothing, request } = preview
  const says: string[] = []
  if (refusal !== null) says.push(`Cannot be run: ${refusal}.`)
  else if (changesNothing) says.push(nothing(preview))
  else if (late.tard + late.parcial > 0) says.push(dirty(preview))
  else
    says.push(
      'No late points in this range. Against live rows only the lengths of jumps and gaps are new; against an older version more may be.',
    )
  says.push(...preview.refused.map((count) => refusedSentence(count, request.pipeline === 'positions' ? 'points' : 'events')))
  if (preview.joined.length > 0) says.push(hoursSentence('Sessions bring in hours beside the range', preview.joined))
  if (preview.held.length > 0)
    says.push(`${hoursSentence('Sessions stay as they are where one is still open', preview.held)} Run it again when they are closed.`)
  if (refusal === null) {
    const owners = request.pipeline === 'positions' ? 'vans' : 'markets'
    const known = preview.version === null ? '' : ` It has been computed already: version ${preview.version}.`
    const what = `${counted(preview.hours, 'hours')} of ${counted(preview.owners, owners)}, ${counted(preview.rows, 'rows')} to read`
    says.push(`${what}, about ${seconds(preview.expectedMs)}.${known}`)
  }
  return says
}

function nothing({ version }: Omit<BackfillPreview, 'says'>): string {
  return version === null
    ? 'This would change no distance and no session: nothing in the range was late.'
    : `This would change nothing: what is served is what it computes (version ${version}).`
}

function dirty({ late, request }: Omit<BackfillPreview, 'says'>): string {
  const [first, second, ...rest] = late.owners
  const names = [first, second].flatMap((row) => (row === undefined ? [] : [`${row.owner} ${row.tard + row.parcial}`]))
  const others = rest.length > 0 ? `, and ${rest.length} more` : ''
  if (request.pipeline === 'stock') return `${late.tard} events that live has left out would come in (${names.join(', ')}${others}).`
  return `${late.tard} points that live has left out and ${late.parcial} that it counts in part would come in (${names.join(', ')}${others}).`
}

function refusedSentence({ reason, count, owners, aheadMs }: RefusedCount, what: string): string {
  const names =
    owners.length === 0 ? '' : ` of ${owners.slice(0, 3).join(', ')}${owners.length > 3 ? ` and ${owners.length - 3} more` : ''}`
  const refused = `${count} ${what}${names} refused as \`${reason}\``
  if (aheadMs !== null && reason === 'futur')
    return `${refused}: the clock is ${clock(aheadMs)} ahead. A backfill does not bring them in; \`km0 dead-letters resubmit\` with a shift of the clock does.`
  if (aheadMs !== null && reason === 'antic')
    return `${refused}: the clock is ${clock(-aheadMs)} behind. A backfill does not bring them in; \`km0 dead-letters resubmit\` with a shift of the clock does.`
  return `${refused}: a backfill does not bring them in; \`km0 dead-letters list\` shows them.`
}

function clock(ms: number): string {
  const minutes = Math.round(ms / MINUTE_MS)
  if (minutes < 90) return minutes === 60 ? 'an hour' : `${minutes} min`
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} hours` : `${Math.round(minutes / 1_440)} days`
}

function hoursSentence(what: string, hours: readonly HoursOfOwner[]): string {
  const [first] = hours
  if (first === undefined) return ''
  const example = `${first.owner} from ${iso(first.fromMs)} to ${iso(first.toMs)}`
  return `${what}: ${hours.length === 1 ? example : `${hours.length} stretches, such as ${example}`}.`
}

const counted = (count: number, plural: string) => `${count} ${count === 1 ? plural.slice(0, -1) : plural}`
const iso = (ms: number) => `${new Date(ms).toISOString().slice(0, 16)}Z`
const seconds = (ms: number) => `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`
