import { type OutagesView, type OutageView, outageSpans, type Scope } from '@km0/contracts'
import type { Pool } from './pool.ts'
import { readScoped, vanScope } from './scope.ts'

/**
 * Outages of ours that touch a span, and the silences of the scope's vans that do. An outage says nothing of any van, so everybody may know of
 * it; silences that overlap one of their partition are left out of the count of vans' own.
 */
export async function readOutages(
  pool: Pool,
  scope: Scope,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<OutagesView> {
  return readScoped(pool, scope, async (client) => {
    const { rows: partitions } = await client.query<{ count: number }>('select count(*) as count from km0.partition_mark')
    const { rows } = await client.query<OutageView>(
      `select partition, from_ms as "fromMs", to_ms as "toMs", cause from km0.outage
       where from_ms < $2 and to_ms > $1 order by from_ms, partition`,
      [fromMs, toMs],
    )
    const clause = vanScope(scope, 3)
    const { rows: silences } = await client.query<{ overOutage: boolean; count: number }>(
      `select e.over_outage as "overOutage", count(*) as count
       from km0.no_signal_episode_judged e left join km0.van v on v.van = e.van
       where e.since_ms < $2 and (e.ended_ms is null or e.ended_ms > $1) and ${clause.sql} group by e.over_outage`,
      [fromMs, toMs, ...clause.values],
    )
    const of = (overOutage: boolean) => silences.find((row) => row.overOutage === overOutage)?.count ?? 0
    return {
      fromMs,
      toMs,
      outages: outageSpans(rows, partitions[0]?.count ?? 0),
      silences: { counted: of(false), overOutages: of(true) },
    }
  })
}
