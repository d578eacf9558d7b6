import type { NightFigures, NightRun } from '@km0/contracts'
import { Pool, type PoolOptions } from '../pool.ts'

const LOCK = 3_141_592_653_589

const COLUMNS = `day_ms as "dayMs", day_end_ms as "dayEndMs", due_ms as "dueMs", state, tasks, detail, notified_of as "notifiedOf",
  updated_at_ms as "updatedAtMs"`

/** Nightly runs. Every method rejects with ServingUnavailableError while PostgreSQL is away. */
export class NightRuns {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Opens the run of a day, once. */
  async open(day: { readonly dayMs: number; readonly dayEndMs: number; readonly dueMs: number }, nowMs: number): Promise<void> {
    await this.#pool.query(
      'insert into km0.night_run (day_ms, day_end_ms, due_ms, updated_at_ms) values ($1, $2, $3, $4) on conflict (day_ms) do nothing',
      [day.dayMs, day.dayEndMs, day.dueMs, nowMs],
    )
  }

  async write(run: NightRun): Promise<void> {
    await this.#pool.query(
      'update km0.night_run set state = $2, tasks = $3, detail = $4, notified_of = $5, updated_at_ms = $6 where day_ms = $1',
      [run.dayMs, run.state, JSON.stringify(run.tasks), run.detail, run.notifiedOf, run.updatedAtMs],
    )
  }

  /** End of the oldest live window that is stored; null before the first. Nights of days before it have nothing to do. */
  async firstResultMs(): Promise<number | null> {
    const [row] = await this.#pool.query<{ firstMs: number | null }>('select min(window_end_ms) as "firstMs" from km0.distance_row')
    return row?.firstMs ?? null
  }

  /** Newest day first. */
  list(limit: number): Promise<NightRun[]> {
    return this.#pool.query<NightRun & Record<string, unknown>>(`select ${COLUMNS} from km0.night_run order by day_ms desc limit $1`, [
      limit,
    ])
  }

  /** Runs `work` unless somebody else is at it: then resolves to false at once. */
  async alone(work: () => Promise<void>): Promise<boolean> {
    return this.#pool.withClient(async (client) => {
      const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [LOCK])
      if (rows[0]?.got !== true) return false
      try {
        await work()
        return true
      } finally {
        await client.query('select pg_advisory_unlock($1)', [LOCK]).catch(() => undefined)
      }
    })
  }

  /** What a version of positions holds, beside what is served in its range. */
  async figures(version: number): Promise<NightFigures> {
    const [row] = await this.#pool.query<NightFigures & Record<string, unknown>>(
      `with v as (select id, from_ms, to_ms, owners from km0.version where id = $1),
         served as (select d.van, count(*) as rows from v join km0.served_distance d on d.window_end_ms > v.from_ms and d.window_end_ms <= v.to_ms
           and (v.owners is null or d.van = any(v.owners)) group by d.van),
         fresh as (select d.van, count(*) as rows from v join km0.version_distance d on d.version = v.id and d.window_end_ms > v.from_ms
           and d.window_end_ms <= v.to_ms group by d.van)
       select coalesce((select sum(rows) from served), 0)::bigint as "servedRows", coalesce((select sum(rows) from fresh), 0)::bigint as "freshRows",
         coalesce((select sum(t.distance_mm) from v join km0.served_travel t on t.hour_ms >= v.from_ms and t.hour_ms < v.to_ms
           and (v.owners is null or t.van = any(v.owners))), 0)::bigint as "servedMm",
         coalesce((select sum(t.distance_mm) from v join km0.version_travel t on t.version = v.id and t.hour_ms >= v.from_ms and t.hour_ms < v.to_ms),
           0)::bigint as "freshMm",
         coalesce((select array_agg(s.van order by s.van) from served s join km0.van r on r.van = s.van
           where not exists (select from fresh f where f.van = s.van)), '{}') as "lostVans"`,
      [version],
    )
    if (row === undefined) throw new Error(`no figures of version ${version}`)
    return row
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

/** Opens the store of nightly runs. Connects at the first use; the schema is `Serving.migrate`'s. */
export function openNightRuns(options: PoolOptions): NightRuns {
  return new NightRuns(new Pool({ statementTimeoutMs: 300_000, ...options }))
}
