import type { Actor, LedgerReport, LedgerRunView } from '@km0/contracts'
import { Pool, type PoolOptions } from './pool.ts'

/** A run that a worker has taken. */
export interface TakenRun {
  readonly id: number
  readonly fromMs: number
  readonly toMs: number
}

export interface AskedSpan {
  readonly fromMs: number
  readonly toMs: number
  readonly actor: Actor | null
  readonly nowMs: number
}

/** So many runs may wait or be in work at a time. */
const MAX_OPEN = 10
/** A worker that was not heard of for so long is gone. */
const WORKER_GONE_MS = 30_000
/** A run that ends its worker each time is not tried for ever. */
const MAX_ATTEMPTS = 3

const COLUMNS = `id, from_ms as "fromMs", to_ms as "toMs", reason, actor_name as "actorName", asked_at_ms as "askedAtMs", state, progress,
  started_at_ms as "startedAtMs", ended_at_ms as "endedAtMs", detail, unnamed`

/** Runs of the ledger: one row each. Every method rejects with ServingUnavailableError while PostgreSQL is away. */
export class LedgerRuns {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Asks for a ledger. Returns the run: one that is open already for the same span, else a new one; null when too many are open. */
  async ask({ fromMs, toMs, actor, nowMs }: AskedSpan): Promise<LedgerRunView | null> {
    return this.#pool.transaction('begin', async (client) => {
      await client.query('lock table km0.ledger_run in share row exclusive mode')
      const { rows: open } = await client.query<LedgerRunView>(
        `select ${COLUMNS} from km0.ledger_run where state in ('waiting', 'running')`,
      )
      const same = open.find((run) => run.fromMs === fromMs && run.toMs === toMs)
      if (same !== undefined) return same
      if (open.length >= MAX_OPEN) return null
      const { rows } = await client.query<LedgerRunView>(
        `insert into km0.ledger_run (from_ms, to_ms, reason, actor_id, actor_name, asked_at_ms) values ($1, $2, 'asked', $3, $4, $5)
         returning ${COLUMNS}`,
        [fromMs, toMs, actor?.id ?? null, actor?.name ?? null, nowMs],
      )
      return rows[0] ?? null
    })
  }

  /** Asks for an hour on behalf of the clock; once for each hour. */
  async askHourly(fromMs: number, toMs: number, nowMs: number): Promise<void> {
    await this.#pool.query(
      `insert into km0.ledger_run (from_ms, to_ms, reason, asked_at_ms) values ($1, $2, 'hourly', $3)
       on conflict (from_ms, to_ms) where reason = 'hourly' do nothing`,
      [fromMs, toMs, nowMs],
    )
  }

  /** Ends a run that waits or is in work. False when there is no such run any more. */
  async cancel(id: number, nowMs: number): Promise<boolean> {
    const rows = await this.#pool.query(
      `update km0.ledger_run set state = 'cancelled', ended_at_ms = $2 where id = $1 and state in ('waiting', 'running') returning id`,
      [id, nowMs],
    )
    return rows.length > 0
  }

  /** Newest first, without their reports. */
  list(limit: number): Promise<LedgerRunView[]> {
    return this.#pool.query<LedgerRunView & Record<string, unknown>>(`select ${COLUMNS} from km0.ledger_run order by id desc limit $1`, [
      limit,
    ])
  }

  /** A run with its report; without `id` the newest one that is done. null when there is none. */
  async report(id: number | null): Promise<{ readonly run: LedgerRunView; readonly report: LedgerReport } | null> {
    const [row] = await this.#pool.query<LedgerRunView & { report: LedgerReport } & Record<string, unknown>>(
      `select ${COLUMNS}, report from km0.ledger_run where state = 'done' and ($1::bigint is null or id = $1) order by id desc limit 1`,
      [id],
    )
    if (row === undefined) return null
    const { report, ...run } = row
    return { run, report }
  }

  /** Gives the worker the oldest run that waits, or whose worker is gone; null when there is none. */
  async take(worker: string, nowMs: number): Promise<TakenRun | null> {
    await this.#pool.query(
      `update km0.ledger_run set state = 'failed', ended_at_ms = $1, detail = 'its worker ended each time'
       where state = 'running' and seen_at_ms < $2 and attempts >= $3`,
      [nowMs, nowMs - WORKER_GONE_MS, MAX_ATTEMPTS],
    )
    const [run] = await this.#pool.query<TakenRun & Record<string, unknown>>(
      `update km0.ledger_run set state = 'running', worker = $1, started_at_ms = $2, seen_at_ms = $2, progress = 0, attempts = attempts + 1
       where id = (select id from km0.ledger_run where state = 'waiting' or state = 'running' and seen_at_ms < $3
         order by id limit 1 for update skip locked)
       returning id, from_ms as "fromMs", to_ms as "toMs"`,
      [worker, nowMs, nowMs - WORKER_GONE_MS],
    )
    return run ?? null
  }

  /** Tells how far a worker is. False when the run is not its own any more: it was cancelled, or given to another. */
  async progress(id: number, worker: string, share: number, nowMs: number): Promise<boolean> {
    return this.#change(id, worker, 'progress = $3, seen_at_ms = $4', [share, nowMs])
  }

  /** Stores the report of a run that is still the worker's. */
  async finish(id: number, worker: string, report: LedgerReport, nowMs: number): Promise<boolean> {
    const set = `state = 'done', progress = 1, ended_at_ms = $3, unnamed = $4, report = $5`
    return this.#change(id, worker, set, [nowMs, report.unnamed, JSON.stringify(report)])
  }

  async fail(id: number, worker: string, detail: string, nowMs: number): Promise<boolean> {
    return this.#change(id, worker, `state = 'failed', ended_at_ms = $3, detail = $4`, [nowMs, detail])
  }

  /** Gives a run back that its worker cannot end: it waits again. */
  async release(id: number, worker: string): Promise<boolean> {
    return this.#change(id, worker, `state = 'waiting', worker = null, seen_at_ms = null, attempts = attempts - 1`, [])
  }

  async #change(id: number, worker: string, set: string, values: readonly unknown[]): Promise<boolean> {
    const rows = await this.#pool.query(
      `update km0.ledger_run set ${set} where id = $1 and worker = $2 and state = 'running' returning id`,
      [id, worker, ...values],
    )
    return rows.length > 0
  }

  /** Forgets runs that were asked for before. Returns how many. */
  async dropBefore(beforeMs: number): Promise<number> {
    const rows = await this.#pool.query('delete from km0.ledger_run where asked_at_ms < $1 returning id', [beforeMs])
    return rows.length
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

/** Opens the runs of the ledger. Connects at the first use. */
export function openLedgerRuns(options: PoolOptions): LedgerRuns {
  return new LedgerRuns(new Pool(options))
}
