import type { AcknowledgementView, HandOverChange, Scope } from '@km0/contracts'
import type { Pool } from '../pool.ts'
import { readScoped, vanScope } from '../scope.ts'
import { readEpisodes } from './episodes.ts'
import { readMuteChanges } from './mutes.ts'

/** Changes of one answer at most. */
export const HAND_OVER_MAX = 1_000

/** What happened to the silences of a scope's vans in `[fromMs, toMs]`, newest first. */
export function readHandOver(
  pool: Pool,
  scope: Scope,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<{ readonly changes: readonly HandOverChange[]; readonly more: boolean }> {
  return readScoped(pool, scope, async (client) => {
    const limit = HAND_OVER_MAX + 1
    const episodes = await readEpisodes(client, scope, { fromMs, toMs: toMs + 1, endedFromMs: fromMs, limit })
    const clause = vanScope(scope, 4)
    const { rows: notes } = await client.query<{ van: string; note: string; atMs: number; id: string; name: string; roles: string[] }>(
      `select a.van, a.note, a.at_ms as "atMs", a.actor_id as id, a.actor_name as name, a.actor_roles as roles
       from km0.acknowledgement a left join km0.van v on v.van = a.van where a.at_ms >= $1 and a.at_ms <= $2 and ${clause.sql}
       order by a.at_ms desc limit $3`,
      [fromMs, toMs, limit, ...clause.values],
    )
    const mutes = await readMuteChanges(client, scope, { fromMs, toMs, limit })
    // One that takes the place of another: nobody was unmuted.
    const replaced = new Set(mutes.map(({ mute }) => `${mute.kind} ${mute.subject} ${mute.atMs}`))
    const changes: HandOverChange[] = [
      ...episodes
        .filter(({ sinceMs }) => sinceMs >= fromMs)
        .map((episode): HandOverChange => ({ kind: 'new', atMs: episode.sinceMs, van: episode.van, episode })),
      ...episodes.flatMap((episode): HandOverChange[] =>
        episode.endedMs === null || episode.endedMs < fromMs || episode.endedMs > toMs
          ? []
          : [{ kind: 'returned', atMs: episode.endedMs, van: episode.van, episode }],
      ),
      ...notes.map(
        ({ van, note, atMs, ...actor }): HandOverChange => ({
          kind: 'acknowledged',
          atMs,
          van,
          note,
          actor: actor satisfies AcknowledgementView['actor'],
        }),
      ),
      ...mutes.flatMap(({ mute, ended }): HandOverChange[] => [
        ...(mute.atMs >= fromMs ? [{ kind: 'muted' as const, atMs: mute.atMs, mute, actor: mute.actor }] : []),
        ...(ended !== null && ended.atMs >= fromMs && !replaced.has(`${mute.kind} ${mute.subject} ${ended.atMs}`)
          ? [{ kind: 'unmuted' as const, atMs: ended.atMs, mute, actor: ended.actor }]
          : []),
      ]),
    ]
    changes.sort((a, b) => b.atMs - a.atMs)
    return { changes: changes.slice(0, HAND_OVER_MAX), more: changes.length > HAND_OVER_MAX }
  })
}
