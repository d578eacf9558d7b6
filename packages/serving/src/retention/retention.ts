import { PUBLISH_LOCK } from '../backfill/publish.ts'
import { DAY_MS, DAY_TABLES, DayPartitions, type DayTable } from '../day-partitions.ts'
import { Pool, type PoolOptions } from '../pool.ts'
import { writeAudit } from '../sign-in/audit.ts'
import { RETENTION_RULES, type RetentionRule, type RetentionStep, UNSERVED } from './rules.ts'
import type { RetentionSettings } from './settings.ts'

/** What one kind of data came to. */
export interface RetentionRow {
  readonly kind: string
  readonly setting: keyof RetentionSettings
  readonly days: number
  /** Rows before this instant are too old; null where nothing is known of the log yet. */
  readonly beforeMs: number | null
  /** By table, those with none left out. Of days by partition. */
  readonly rows: Readonly<Record<string, number>>
}

export interface RetentionPace {
  readonly batchRows: number
  readonly pauseMs: number
}

const LOCK = 8_271_828_182_849
/** Whole days, which the role `serving` drops: the batch program may have other settings, and must not know better. */
const DAY_KINDS = [
  { kind: 'results', setting: 'KM0_RESULT_RETENTION_DAYS' },
  { kind: 'tracks', setting: 'KM0_TRACK_RETENTION_DAYS' },
] as const

/** Kinds in the order in which they are deleted. */
export const RETENTION_KINDS: readonly string[] = RETENTION_RULES.map(({ kind }) => kind)

/** Deletes what is too old. Every method rejects with ServingUnavailableError while PostgreSQL is away. */
export class Retention {
  readonly #pool: Pool
  readonly #partitions: DayPartitions

  constructor(pool: Pool) {
    this.#pool = pool
    this.#partitions = new DayPartitions(pool)
  }

  /** What would be deleted now, by kind. Changes nothing. */
  async preview(settings: RetentionSettings, machineMs: number): Promise<RetentionRow[]> {
    const rows: RetentionRow[] = []
    for (const rule of await this.#dueDays(settings, machineMs)) {
      const counted: Record<string, number> = {}
      for (const name of rule.names) counted[name] = await this.#count({ table: name, where: '$1::bigint is not null' }, 0)
      rows.push({ ...rule.row, rows: counted })
    }
    for (const rule of RETENTION_RULES) {
      const row = await this.#rowOf(rule, settings, machineMs)
      const counted: Record<string, number> = {}
      for (const step of row.beforeMs === null ? [] : rule.steps) {
        const count = await this.#count(step, row.beforeMs ?? 0)
        if (count > 0) counted[step.table] = (counted[step.table] ?? 0) + count
      }
      rows.push({ ...row, rows: counted })
    }
    return rows
  }

  /**
   * Deletes what is too old, in batches, each in a transaction of its own, and notes in the audit what it came to. One process at a time: resolves
   * to null when another one is at it. `onKind` hears each kind when it is done.
   */
  async apply(
    settings: RetentionSettings,
    machineMs: number,
    pace: RetentionPace,
    onKind: (row: RetentionRow, share: number) => Promise<void> | void = () => undefined,
    actorName = 'km0:retention',
  ): Promise<RetentionRow[] | null> {
    return this.#alone(async () => {
      const rows: RetentionRow[] = []
      const done = async (row: RetentionRow) => {
        rows.push(row)
        await onKind(row, rows.length / RETENTION_KINDS.length)
      }
      for (const rule of RETENTION_RULES) await done(await this.#applyRule(rule, settings, machineMs, pace))
      const detail = rows.flatMap(({ kind, rows: of }) => (Object.keys(of).length === 0 ? [] : [`${kind}: ${wordsOf(of)}`])).join('; ')
      if (detail !== '')
        await writeAudit(this.#pool, { atMs: machineMs, actorId: null, actorName, action: 'retention', detail, address: 'local' })
      return rows
    })
  }

  async #applyRule(rule: RetentionRule, settings: RetentionSettings, machineMs: number, pace: RetentionPace): Promise<RetentionRow> {
    const row = await this.#rowOf(rule, settings, machineMs)
    const deleted: Record<string, number> = {}
    for (const step of row.beforeMs === null ? [] : rule.steps) {
      if (rule.kind === 'versions' && step.table === 'version_hour') await this.#markDropped(row.beforeMs ?? 0, machineMs)
      const count = await this.#deleteAll(step, row.beforeMs ?? 0, pace)
      if (count > 0) deleted[step.table] = (deleted[step.table] ?? 0) + count
    }
    return { ...row, rows: deleted }
  }

  /** Versions whose hours go are published no more. */
  async #markDropped(beforeMs: number, machineMs: number): Promise<void> {
    await this.#pool.transaction('begin', async (client) => {
      await client.query('select pg_advisory_xact_lock($1)', [PUBLISH_LOCK])
      await client.query(`update km0.version u set dropped_at_ms = $2 where u.dropped_at_ms is null and u.id in (${UNSERVED})`, [
        beforeMs,
        machineMs,
      ])
    })
  }

  async #deleteAll(step: RetentionStep, beforeMs: number, { batchRows, pauseMs }: RetentionPace): Promise<number> {
    let sum = 0
    for (const name of await this.#tablesOf(step)) {
      for (;;) {
        const count = await this.#pool.transaction('begin', async (client) => {
          await client.query('select pg_advisory_xact_lock($1)', [PUBLISH_LOCK])
          const { rowCount } = await client.query(
            `delete from km0.${name} where ctid = any(array(select t.ctid from km0.${name} t where ${step.where} limit $2))`,
            [beforeMs, batchRows],
          )
          return rowCount ?? 0
        })
        sum += count
        // Rows that only others kept may be free now; they are for the next batch.
        if (count === 0) break
        if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
      }
    }
    return sum
  }

  async #count(step: RetentionStep, beforeMs: number): Promise<number> {
    const [row] = await this.#pool.query<{ count: number }>(`select count(*) as count from km0.${step.table} t where ${step.where}`, [
      beforeMs,
    ])
    return row?.count ?? 0
  }

  /** A batch finds its rows by where they lie, which is told within one partition. */
  async #tablesOf({ table, isPartitioned }: RetentionStep): Promise<string[]> {
    return isPartitioned === true ? this.#partitions.names(table as DayTable) : [table]
  }

  async #dueDays(settings: RetentionSettings, machineMs: number) {
    const nowMs = await this.#logNow(machineMs)
    return Promise.all(
      DAY_KINDS.map(async ({ kind, setting }) => {
        const beforeMs = nowMs === null ? null : nowMs - settings[setting] * DAY_MS
        const tables = DAY_TABLES.filter((table) => isTrack(table) === (kind === 'tracks'))
        const names = beforeMs === null ? [] : (await Promise.all(tables.map((table) => this.#partitions.before(table, beforeMs)))).flat()
        return { row: { kind, setting, days: settings[setting], beforeMs }, names }
      }),
    )
  }

  async #rowOf(rule: RetentionRule, settings: RetentionSettings, machineMs: number): Promise<Omit<RetentionRow, 'rows'>> {
    const nowMs = rule.clock === 'log' ? await this.#logNow(machineMs) : machineMs
    const isTravel = rule.setting === 'KM0_TRAVEL_RETENTION_DAYS'
    const days = isTravel ? Math.max(settings.KM0_RESULT_RETENTION_DAYS, settings[rule.setting]) : settings[rule.setting]
    return { kind: rule.kind, setting: rule.setting, days, beforeMs: nowMs === null ? null : nowMs - days * DAY_MS }
  }

  /**
   * The present of what came by the log: its newest record, never beyond the machine's clock. A platform that plays an old day, or that stands still,
   * deletes nothing for that. null while nothing has come.
   */
  async #logNow(machineMs: number): Promise<number | null> {
    const [row] = await this.#pool.query<{ recordMs: number | null }>('select max(record_ms) as "recordMs" from km0.partition_mark')
    return row === undefined || row.recordMs === null ? null : Math.min(machineMs, row.recordMs)
  }

  async #alone<T>(work: () => Promise<T>): Promise<T | null> {
    return this.#pool.withClient(async (client) => {
      const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [LOCK])
      if (rows[0]?.got !== true) return null
      try {
        return await work()
      } finally {
        await client.query('select pg_advisory_unlock($1)', [LOCK]).catch(() => undefined)
      }
    })
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

const isTrack = (table: DayTable) => table === 'track_point' || table === 'stock_history'

/** `table 12, table 3`. */
export function wordsOf(rows: Readonly<Record<string, number>>): string {
  return Object.entries(rows)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
}

/** Opens the store for deleting what is too old. Connects at the first use; the schema is `Serving.migrate`'s. */
export function openRetention(options: PoolOptions): Retention {
  return new Retention(new Pool({ statementTimeoutMs: 300_000, maxConnections: 2, ...options }))
}
