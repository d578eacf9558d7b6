import type { HandOverView } from '@km0/contracts/dispatch'
import { type ExportTable, isoTime } from '../data-out/table-files.ts'
import { correctionOf } from '../no-signal/prepare-corrections.ts'

/** What changed, newest first; of a silence what was known then and is known now. */
export function changesTable({ changes, nowMs }: Pick<HandOverView, 'changes' | 'nowMs'>): ExportTable {
  return {
    columns: ['time', 'kind', 'van', 'depot', 'who', 'note', 'since_time', 'ended_time', 'known_then_s', 'known_now_s', 'over_outage'],
    rows: changes.map((change) => {
      const mute = 'mute' in change ? change.mute : null
      const episode = 'episode' in change ? change.episode : null
      const correction = episode === null ? null : correctionOf(episode, nowMs)
      const seconds = (ms: number | undefined) => (ms === undefined ? null : Math.round(ms / 1_000))
      return [
        ...[isoTime(change.atMs), change.kind, 'van' in change ? change.van : mute?.kind === 'van' ? mute.subject : null],
        ...[mute?.kind === 'depot' ? mute.subject : null, 'actor' in change ? change.actor.name : null],
        ...['note' in change ? change.note : (mute?.note ?? null), isoTime(episode?.sinceMs ?? null), isoTime(episode?.endedMs ?? null)],
        ...[seconds(correction?.thenMs), seconds(correction?.nowMs), episode === null ? null : String(episode.overOutage)],
      ]
    }),
  }
}
