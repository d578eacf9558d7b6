import {
  BACKFILL_KINDS,
  type BackfillDifference,
  type BackfillProgress,
  type BackfillRequest,
  type BackfillView,
  type PointerMove,
  type PublicationView,
} from '@km0/contracts'
import { DayPartitions } from '../day-partitions.ts'
import { Pool, type PoolOptions } from '../pool.ts'
import { difference } from './difference.ts'
import type { PieceRows } from './piece-rows.ts'
import { type DroppedHours, dropOlderVersions } from './prune.ts'
import { type Command, type Published, publish, rollBack } from './publish.ts'
import { listPublications, listVersions, pastRate, readLog, readMoves, readProgress, readVersion } from './read-versions.ts'
import { readServedSessions } from './session-moves.ts'
import { type PieceOutcome, storePiece } from './store-piece.ts'
import {
  createVersion,
  endVersion,
  type FrozenVersion,
  findAnswer,
  type OpenPiece,
  openPieces,
  readFrozen,
  resumeVersion,
  unfinishedVersions,
  type VersionPlan,
  writeLog,
} from './version-store.ts'

/** Long statements are normal here: a month is compared at once. */
const STATEMENT_TIMEOUT_MS = 600_000

/** Versions of results, pointers and publications. Every method rejects with ServingUnavailableError while PostgreSQL is away. */
export class Backfills {
  readonly #pool: Pool
  readonly #days: DayPartitions

  constructor(pool: Pool) {
    this.#pool = pool
    this.#days = new DayPartitions(pool)
  }

  /** Runs `work` while nobody else plans the same question, so that the same backfill asked twice at once is one. */
  async planning<T>(question: string, work: () => Promise<T>): Promise<T> {
    return this.#pool.withClient(async (client) => {
      await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [question])
      try {
        return await work()
      } finally {
        await client.query('select pg_advisory_unlock(hashtextextended($1, 0))', [question]).catch(() => undefined)
      }
    })
  }

  findAnswer(question: string): Promise<FrozenVersion | null> {
    return this.#pool.withClient((client) => findAnswer(client, question))
  }

  createVersion(plan: VersionPlan, by: Command): Promise<{ readonly id: number; readonly isNew: boolean }> {
    return this.#pool.transaction('begin', (client) => createVersion(client, plan, by))
  }

  resumeVersion(id: number, snapshot: number, atMs: number): Promise<boolean> {
    return this.#pool.transaction('begin', (client) => resumeVersion(client, id, snapshot, atMs))
  }

  readFrozen(id: number): Promise<FrozenVersion | null> {
    return this.#pool.withClient((client) => readFrozen(client, id))
  }

  openPieces(version?: number): Promise<(OpenPiece & { readonly attempt: number })[]> {
    return openPieces(this.#pool, version)
  }

  unfinishedVersions(): Promise<{ id: number; attempt: number }[]> {
    return unfinishedVersions(this.#pool)
  }

  storePiece(version: number, piece: number, rows: PieceRows, atMs: number): Promise<PieceOutcome> {
    return this.#days.retrying(() => storePiece(this.#pool, this.#days, version, piece, rows, atMs))
  }

  async notePieceShare(version: number, piece: number, share: number): Promise<void> {
    await this.#pool.query('update km0.version_piece set share = $3 where version = $1 and piece = $2 and not done', [
      version,
      piece,
      share,
    ])
  }

  /** The version is complete: it can be compared and published. */
  complete(id: number, atMs: number): Promise<boolean> {
    return endVersion(this.#pool, id, 'ready', null, atMs)
  }

  fail(id: number, error: string, atMs: number): Promise<boolean> {
    return endVersion(this.#pool, id, 'failed', error, atMs)
  }

  /** Resolves false when it does not run. Its workers stop within a second; what was stored waits for a resume. */
  cancel(id: number, atMs: number): Promise<boolean> {
    return endVersion(this.#pool, id, 'cancelled', null, atMs)
  }

  writeLog(version: number, line: string, atMs: number): Promise<void> {
    return writeLog(this.#pool, version, line, atMs)
  }

  readLog(version: number): Promise<{ readonly atMs: number; readonly line: string }[]> {
    return readLog(this.#pool, version)
  }

  list(limit: number): Promise<BackfillView[]> {
    return listVersions(this.#pool, limit)
  }

  read(id: number): Promise<BackfillView | null> {
    return readVersion(this.#pool, id)
  }

  progress(id: number, nowMs: number): Promise<BackfillProgress | null> {
    return readProgress(this.#pool, id, nowMs)
  }

  pastRate(): Promise<number | null> {
    return pastRate(this.#pool)
  }

  /** Rejects with BackfillRefusedError for a version that is not complete. */
  difference(id: number): Promise<BackfillDifference> {
    return difference(this.#pool, id)
  }

  /** Makes a version the served one. Rejects with BackfillRefusedError, changing nothing. */
  publish(id: number, command: Command): Promise<Published> {
    return publish(this.#pool, id, command)
  }

  /** Serves again what was served before publication `id`. Rejects with BackfillRefusedError, changing nothing. */
  rollBack(id: number, command: Command): Promise<Published> {
    return rollBack(this.#pool, id, command)
  }

  publications(limit: number, version?: number): Promise<PublicationView[]> {
    return listPublications(this.#pool, limit, version)
  }

  moves(publication: number): Promise<PointerMove[]> {
    return readMoves(this.#pool, publication)
  }

  dropOlderVersions(id: number, keep: number, atMs: number): Promise<DroppedHours[]> {
    return dropOlderVersions(this.#pool, id, keep, atMs)
  }

  /** Served sessions of vans that touch the range. */
  servedSessions(
    vans: readonly string[],
    fromMs: number,
    toMs: number,
  ): Promise<readonly { van: string; startMs: number; endMs: number }[]> {
    return this.#pool.withClient((client) => readServedSessions(client, vans, fromMs, toMs))
  }

  /** Vans, or markets, that have a served row in the range. */
  async servedOwners(pipeline: 'positions' | 'stock', fromMs: number, toMs: number): Promise<string[]> {
    const sql =
      pipeline === 'positions'
        ? `select van as owner from km0.served_distance where window_end_ms > $1 and window_end_ms <= $2
           union select van from km0.served_session where start_ms >= $1 and start_ms < $2`
        : 'select distinct market as owner from km0.served_alert where window_start_ms >= $1 and window_start_ms < $2'
    return (await this.#pool.query<{ owner: string }>(sql, [fromMs, toMs])).map(({ owner }) => owner)
  }

  /** Whether anything is published in the range. */
  async hasPointers({ pipeline, fromMs, toMs, owners }: BackfillRequest): Promise<boolean> {
    const rows = await this.#pool.query(
      `select from km0.pointer where kind = any($1::text[]) and hour_ms >= $2 and hour_ms < $3 and ($4::text[] is null or owner = any($4)) limit 1`,
      [BACKFILL_KINDS[pipeline], fromMs, toMs, owners],
    )
    return rows.length > 0
  }

  /** Which of these versions were cancelled or have failed. */
  async stopped(versions: readonly number[]): Promise<number[]> {
    const rows = await this.#pool.query<{ id: number }>(
      `select id from km0.version where id = any($1::bigint[]) and state in ('cancelled', 'failed')`,
      [versions],
    )
    return rows.map(({ id }) => id)
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

/** Opens the store of versions. Connects at the first use; the schema is `Serving.migrate`'s. */
export function openBackfills(options: PoolOptions): Backfills {
  return new Backfills(new Pool({ statementTimeoutMs: STATEMENT_TIMEOUT_MS, ...options }))
}
