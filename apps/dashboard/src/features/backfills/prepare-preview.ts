import type { BackfillPreview } from '@km0/contracts/backfill'

/** From such a clock error on it is told as the cause of refused points. */
const CLOCK_ERROR_MS = 30_000

/** A sentence about a preview: a message and its values. */
export interface Sentence {
  readonly key:
    | 'refused'
    | 'brings'
    | 'changesNothing'
    | 'nothingLate'
    | 'clockAhead'
    | 'clockBehind'
    | 'invalid'
    | 'refusedOther'
    | 'known'
    | 'help'
  readonly values: Readonly<Record<string, string | number>>
  readonly kind: 'alarm' | 'news' | 'plain'
}

/** What a backfill would do, in sentences, most important first. */
export function prepareSentences(preview: BackfillPreview): Sentence[] {
  const { late, refused, refusal } = preview
  const sentences: Sentence[] = []
  const say = (kind: Sentence['kind'], key: Sentence['key'], values: Sentence['values'] = {}) => sentences.push({ key, values, kind })
  if (refusal !== null) say('alarm', 'refused', { why: refusal })
  if (preview.changesNothing) say('news', 'changesNothing')
  else if (late.tard + late.parcial > 0) say('news', 'brings', { tard: late.tard, parcial: late.parcial, owners: late.owners.length })
  else if (refusal === null) say('plain', 'nothingLate')
  for (const { reason, count, aheadMs, owners } of refused) {
    const values = { count, reason, owners: owners.slice(0, 3).join(', '), more: Math.max(0, owners.length - 3) }
    if (aheadMs !== null && aheadMs >= CLOCK_ERROR_MS) say('alarm', 'clockAhead', { ...values, error: clockError(aheadMs) })
    else if (aheadMs !== null && aheadMs <= -CLOCK_ERROR_MS && reason === 'antic')
      say('alarm', 'clockBehind', { ...values, error: clockError(-aheadMs) })
    else say('alarm', reason === 'invalid' ? 'invalid' : 'refusedOther', values)
  }
  if (refused.some(({ aheadMs }) => aheadMs !== null)) say('plain', 'help')
  if (preview.version !== null) say('plain', 'known', { version: preview.version })
  return sentences
}

/** How wrong a clock is, in the largest unit that tells it: `1 h`, `12 min`, `7168 d`. */
function clockError(ms: number): string {
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
  ] as const
  const [unit, size] = units.find(([, sizeMs]) => ms >= sizeMs * 0.95) ?? (['s', 1_000] as const)
  return `${Math.round(ms / size)} ${unit}`
}
