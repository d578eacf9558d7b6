import type { BackfillPipeline } from '@km0/contracts'
import { Pool, type PoolOptions } from '../pool.ts'

export type RunKind = 'backfill' | 'publish' | 'rollback' | 'reprocess'
export type RunEventType = 'START' | 'COMPLETE' | 'FAIL' | 'ABORT'

/** A run event that is still to be told, with what is known of its run. */
export interface DueRunEvent {
  /** Name of the run: the same in all of its events. */
  readonly run: string
  readonly event: RunEventType
  readonly kind: RunKind
  readonly atMs: number
  readonly error: string | null
  /** Null when its run was deleted meanwhile. */
  readonly of: RunFacts | null
}

export interface RunFacts {
  readonly version: number
  readonly pipeline: BackfillPipeline
  readonly fromMs: number
  readonly toMs: number
  readonly code: string
  /** Version of the lake that was read. */
  readonly snapshot: number
  readonly points: number
  /** Rows by kind of result, as far as they are counted: of a backfill that is done, all together. */
  readonly rows: number
  readonly publication: number | null
  readonly undoes: number | null
  /** Versions that were served before, of a publication. */
  readonly before: readonly number[]
  readonly movedHours: number | null
}

const LINEAGE_LOCK = 3_141_592_653_589

/** Runs are derived from what the store has anyway: whoever runs something needs to tell nobody, and none is lost. */
const RUNS = `
  select 'backfill/' || v.id || '/' || v.attempt as run, 'backfill' as kind, v.id as version, null::bigint as publication, v.started_at_ms as started,
    case v.state when 'ready' then 'COMPLETE' when 'failed' then 'FAIL' when 'cancelled' then 'ABORT' end as ending, v.finished_at_ms as ended, v.error
  from km0.version v where not exists (select from km0.reprocessing r where r.version = v.id)
  union all
  select p.action || '/' || p.id, p.action, p.version, p.id, p.at_ms, 'COMPLETE', p.at_ms, null from km0.publication p
  union all
  select 'reprocess/' || r.version || '/' || u.id, 'reprocess', r.version, null, u.started_at_ms,
    case u.state when 'done' then 'COMPLETE' when 'failed' then 'FAIL' when 'stopped' then 'ABORT' end, u.ended_at_ms, u.error
  from km0.reprocessing_run u join km0.reprocessing r on r.name = u.name`

const DUE = `with run as (${RUNS}), event as (
    select run, kind, version, publication, 'START' as event, started as at_ms, null as error, 0 as turn from run
    union all select run, kind, version, publication, ending, coalesce(ended, started), error, 1 from run where ending is not null
    union all
    -- Begun, told, and gone before its end was: put to work again, or deleted.
    select t.run, split_part(t.run, '/', 1), null, null, 'ABORT', t.told_at_ms, null, 1 from km0.lineage_told t
    where t.event = 'START' and not exists (select from run where run.run = t.run)
      and not exists (select from km0.lineage_told e where e.run = t.run and e.event <> 'START'))
  select e.run, e.kind, e.event, e.at_ms as "atMs", e.error, v.id as version, v.pipeline, v.from_ms as "fromMs", v.to_ms as "toMs", v.code, v.snapshot, v.points,
    (select coalesce(sum(p.rows), 0)::bigint from km0.version_piece p where p.version = v.id) as rows,
    e.publication, p.undoes, p.hours as "movedHours",
    array(select distinct m.before from km0.publication_move m where m.publication = e.publication and m.before is not null order by 1) as before
  from event e left join km0.version v on v.id = e.version left join km0.publication p on p.id = e.publication
  where not exists (select from km0.lineage_told t where t.run = e.run and t.event = e.event)
  order by e.at_ms, e.run, e.turn limit $1`

interface DueRow extends Omit<DueRunEvent, 'of'>, Omit<RunFacts, 'version'> {
  readonly version: number | null
}

/** Run events of backfills, publications, roll backs and reprocessings. Every method rejects with ServingUnavailableError while PostgreSQL is away. */
export class LineageStore {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Runs `work` unless another program is at it. */
  async alone(work: () => Promise<void>): Promise<void> {
    await this.#pool.withClient(async (client) => {
      const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [LINEAGE_LOCK])
      if (rows[0]?.mine !== true) return
      try {
        await work()
      } finally {
        await client.query('select pg_advisory_unlock($1)', [LINEAGE_LOCK]).catch(() => undefined)
      }
    })
  }

  /** What was not told yet, oldest first; of each run the START first. */
  async due(limit: number): Promise<DueRunEvent[]> {
    const rows = await this.#pool.query<DueRow & Record<string, unknown>>(DUE, [limit])
    return rows.map(({ run, event, kind, atMs, error, version, ...facts }) => ({
      ...{ run, event, kind, atMs, error },
      of: version === null ? null : { version, ...facts },
    }))
  }

  async noteTold({ run, event }: Pick<DueRunEvent, 'run' | 'event'>, atMs: number): Promise<void> {
    await this.#pool.query('insert into km0.lineage_told (run, event, told_at_ms) values ($1, $2, $3) on conflict do nothing', [
      run,
      event,
      atMs,
    ])
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

export function openLineageStore(options: PoolOptions): LineageStore {
  return new LineageStore(new Pool(options))
}
