import { type Actor, BACKFILL_HOUR_MS as HOUR_MS } from '@km0/contracts'
import { DayPartitions } from '../day-partitions.ts'
import { type Client, Pool, type PoolOptions } from '../pool.ts'
import { BackfillRefusedError } from './errors.ts'
import { type PartitionAdvance, storeOpenSessions, storeRows } from './reprocessing-rows.ts'

/** The live job's code over the lake and then the log, into a version of its own. */
export interface Reprocessing {
  readonly name: string
  readonly version: number
  readonly epoch: number
  /** Rows of hours before are not wanted. */
  readonly fromMs: number
  /** Windows and sessions up to here are complete; `fromMs` at the beginning. */
  readonly toMs: number
  readonly settings: unknown
  readonly movedAtMs: number
  readonly partitions: readonly ReprocessedPlace[]
}

/** How far one partition has come. */
export interface ReprocessedPlace {
  readonly partition: number
  /** Records before it come from the lake, it and those after it from the log. */
  readonly seamOffset: number
  readonly nextOffset: number
  readonly finalMs: number | null
  readonly snapshot: string | null
  /** Van -> earliest possible start of its open session. */
  readonly openSessions: Readonly<Record<string, number>>
}

export interface ReprocessingStart {
  readonly name: string
  readonly epoch: number
  readonly fromMs: number
  readonly settings: unknown
  readonly sessionGapMs: number
  /** Version of the lake at the seam. */
  readonly snapshot: number
  readonly partitions: readonly { readonly partition: number; readonly seamOffset: number; readonly nextOffset: number }[]
  readonly actor: Actor
  readonly atMs: number
}

/** Reprocessings. Every method rejects with ServingUnavailableError while PostgreSQL is away. */
export class Reprocessings {
  readonly #pool: Pool
  readonly #days: DayPartitions

  constructor(pool: Pool) {
    this.#pool = pool
    this.#days = new DayPartitions(pool)
  }

  async read(name: string): Promise<Reprocessing | null> {
    return (await this.#select('where r.name = $1', [name]))[0] ?? null
  }

  /** Newest first. Without the states of the pipeline. */
  list(): Promise<Reprocessing[]> {
    return this.#select('where true', [])
  }

  async #select(where: string, values: readonly unknown[]): Promise<Reprocessing[]> {
    const heads = await this.#pool.query<Omit<Reprocessing, 'partitions'>>(
      `select r.name, r.version, r.epoch, v.from_ms as "fromMs", v.to_ms as "toMs", v.settings, r.moved_at_ms as "movedAtMs"
       from km0.reprocessing r join km0.version v on v.id = r.version ${where} order by r.version desc`,
      values,
    )
    const places = await this.#pool.query<ReprocessedPlace & { name: string }>(
      `select name, partition, seam_offset as "seamOffset", next_offset as "nextOffset", final_ms as "finalMs", snapshot, open_sessions as "openSessions"
       from km0.reprocessing_partition where name = any($1::text[]) order by partition`,
      [heads.map(({ name }) => name)],
    )
    return heads.map((head) => ({
      ...head,
      partitions: places.filter(({ name }) => name === head.name).map(({ name: _, ...place }) => place),
    }))
  }

  /** Begins one, as a version that holds nothing yet. Rejects with BackfillRefusedError when there is one of that name. */
  async begin(start: ReprocessingStart): Promise<void> {
    const { name, epoch, fromMs, settings, sessionGapMs, snapshot, partitions, actor, atMs } = start
    const offsets = Object.fromEntries(partitions.map(({ partition, nextOffset }) => [partition, nextOffset]))
    await this.#pool.transaction('begin', async (client) => {
      const { rows } = await client.query<{ id: number }>(
        `insert into km0.version (natural_id, question, pipeline, from_ms, to_ms, owners, code, settings, session_gap_ms, snapshot, epoch, offsets,
           final_ms, spans, points, state, actor_id, actor_name, actor_roles, reason, requested_at_ms, started_at_ms)
         values ($1, $1, 'positions', $2, $2, null, $1, $3, $4, $5, $6, $7, $2, '{}', 0, 'ready', $8, $9, $10, $11, $12, $12)
         on conflict (natural_id) do nothing returning id`,
        [
          ...[`reprocess ${name}`, fromMs, JSON.stringify(settings), sessionGapMs, snapshot, epoch, JSON.stringify(offsets)],
          ...[actor.id, actor.name, actor.roles, `reprocessed as ${name}`, atMs],
        ],
      )
      const version = rows[0]?.id
      if (version === undefined) throw new BackfillRefusedError(`there is a reprocessing called ${name} already`)
      await client.query(
        'insert into km0.reprocessing (name, version, epoch, from_ms, started_at_ms, moved_at_ms) values ($1, $2, $3, $4, $5, $5)',
        [name, version, epoch, fromMs, atMs],
      )
      for (const { partition, seamOffset, nextOffset } of partitions)
        await client.query('insert into km0.reprocessing_partition (name, partition, seam_offset, next_offset) values ($1, $2, $3, $4)', [
          name,
          partition,
          seamOffset,
          nextOffset,
        ])
    })
  }

  /**
   * Stores rows and places of some partitions, all or nothing. Rejects with BackfillRefusedError when a partition is not where the advance
   * begins: somebody else runs it too.
   */
  advance(of: Reprocessing, parts: readonly PartitionAdvance[], atMs: number): Promise<void> {
    return this.#days.retrying(async () => {
      const rows = await storeRows(this.#days, of, parts)
      await this.#pool.transaction('begin', async (client) => {
        for (const part of parts) await this.#move(client, of, part)
        await rows.write(client)
        await this.#follow(client, of, rows.vans, parts, atMs)
      })
    })
  }

  async #move(client: Client, { name }: Reprocessing, part: PartitionAdvance): Promise<void> {
    const { rowCount } = await client.query(
      `insert into km0.reprocessing_partition as p (name, partition, seam_offset, next_offset, final_ms, snapshot, open_sessions)
       values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (name, partition) do update set next_offset = excluded.next_offset, final_ms = excluded.final_ms, snapshot = excluded.snapshot,
         open_sessions = excluded.open_sessions where p.next_offset = $3`,
      [name, part.partition, part.fromOffset, part.nextOffset, part.finalMs, part.snapshot, JSON.stringify(part.openSessions)],
    )
    if (rowCount !== 1)
      throw new BackfillRefusedError(
        `${name} is run by somebody else too: partition ${part.partition} is no more at offset ${part.fromOffset}`,
      )
  }

  /** The version as far as it is complete: which hours it holds, which sessions are still open. */
  async #follow(
    client: Client,
    of: Reprocessing,
    vans: readonly string[],
    parts: readonly PartitionAdvance[],
    atMs: number,
  ): Promise<void> {
    const { rows } = await client.query<{ finalMs: number | null; offsets: Record<string, number> }>(
      `select case when bool_and(final_ms is not null) then min(final_ms) end as "finalMs", jsonb_object_agg(partition::text, next_offset) as offsets
       from km0.reprocessing_partition where name = $1`,
      [of.name],
    )
    const finalMs = Math.max(of.fromMs, rows[0]?.finalMs ?? of.fromMs)
    const toMs = Math.floor(finalMs / HOUR_MS) * HOUR_MS
    const points = parts.reduce((sum, part) => sum + part.points, 0)
    await client.query(
      `update km0.version set to_ms = $2, final_ms = $3, offsets = $4, points = points + $5, compared_with = null, finished_at_ms = $6,
         pipeline_epoch = km0.newest_epoch() where id = $1`,
      [of.version, toMs, finalMs, JSON.stringify(rows[0]?.offsets ?? {}), points, atMs],
    )
    await client.query(
      'update km0.reprocessing set moved_at_ms = $2, vans = array(select distinct unnest(vans || $3::text[]) order by 1) where name = $1',
      [of.name, atMs, vans],
    )
    await client.query(
      `insert into km0.version_hour (version, kind, owner, hour_ms)
       select $1, k.kind, o.owner, h.hour_ms
       from (select unnest(vans) as owner from km0.reprocessing where name = $2) o
       cross join (values ('distance'), ('session')) as k (kind)
       cross join lateral generate_series($3::bigint, $4::bigint - 3600000, 3600000) as h (hour_ms) on conflict do nothing`,
      [of.version, of.name, of.fromMs, toMs],
    )
    await storeOpenSessions(client, of, finalMs)
  }

  /** A run of it begins. One that was killed before ends with it. Resolves to its number. */
  async beginRun(name: string, atMs: number): Promise<number> {
    await this.#pool.query(`update km0.reprocessing_run set state = 'stopped', ended_at_ms = $2 where name = $1 and state = 'running'`, [
      name,
      atMs,
    ])
    const rows = await this.#pool.query<{ id: number }>(
      'insert into km0.reprocessing_run (name, started_at_ms) values ($1, $2) returning id',
      [name, atMs],
    )
    return rows[0]?.id ?? 0
  }

  /** The run is over: it has caught up or was told to end, or it failed with `error`. */
  async endRun(run: number, error: string | null, atMs: number): Promise<void> {
    await this.#pool.query('update km0.reprocessing_run set state = $2, error = $3, ended_at_ms = $4 where id = $1', [
      run,
      error === null ? 'done' : 'failed',
      error,
      atMs,
    ])
  }

  /** Forgets one and its rows. Rejects with BackfillRefusedError while something of it is served or was published. */
  async drop(of: Reprocessing): Promise<void> {
    await this.#pool.transaction('begin', async (client) => {
      const { rows } = await client.query('select 1 from km0.publication where version = $1 limit 1', [of.version])
      if (rows.length > 0) throw new BackfillRefusedError(`${of.name} was published: it stays in the history of versions`)
      for (const table of ['version_distance', 'version_session'])
        await client.query(`delete from km0.${table} where version = $1`, [of.version])
      await client.query('delete from km0.version where id = $1', [of.version])
    })
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

/** Opens the store of reprocessings. Connects at the first use; the schema is `Serving.migrate`'s. */
export function openReprocessings(options: PoolOptions): Reprocessings {
  return new Reprocessings(new Pool(options))
}
