import type { HandOverChange, HandOverView } from '@km0/contracts/dispatch'

/** Since when one takes over, as the address names it: `HH:MM`; anything else is a shift ago. */
export function sinceOf(text: string | string[] | undefined): string | null {
  return typeof text === 'string' && /^([01]\d|2[0-3]):[0-5]\d$/.test(text) ? text : null
}

export type ChangeKind = HandOverChange['kind']
export const CHANGE_KINDS: readonly ChangeKind[] = ['new', 'returned', 'acknowledged', 'muted', 'unmuted']

/** How much happened, by kind. */
export function countChanges({ changes }: HandOverView): ReadonlyMap<ChangeKind, number> {
  const counts = new Map<ChangeKind, number>()
  for (const { kind } of changes) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** What identifies a change on the page. */
export function keyOf(change: HandOverChange): string {
  const of = 'mute' in change ? String(change.mute.id) : change.van
  return `${change.kind} ${of} ${change.atMs}`
}
