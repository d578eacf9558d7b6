import type { BackfillRequest } from './backfill.ts'

/**
 * `waiting`: the lake has not passed the day yet. `running`: its backfills are computed and checked. `published`: all are. `nothing`: there was
 * nothing to do. `held`: a check has failed, a person decides. `failed`: a backfill could not be run.
 */
export type NightState = 'waiting' | 'running' | 'published' | 'nothing' | 'held' | 'failed'

/** One backfill of a night, and what became of it. */
export interface NightTask {
  readonly request: BackfillRequest
  /** null until it is planned. */
  readonly version: number | null
  readonly outcome: 'open' | 'published' | 'held' | 'failed'
  /** Why it is held or has failed. */
  readonly detail: string
}

/** The run for one day of Europe/Madrid. */
export interface NightRun {
  readonly dayMs: number
  readonly dayEndMs: number
  /** When the schedule wanted it. */
  readonly dueMs: number
  readonly state: NightState
  readonly tasks: readonly NightTask[]
  readonly detail: string
  /** A person was told: of a wait that is too long, or of its end. */
  readonly notifiedOf: string
  readonly updatedAtMs: number
}

/** What is compared before a version is published without a person. */
export interface NightFigures {
  readonly servedRows: number
  readonly freshRows: number
  readonly servedMm: number
  readonly freshMm: number
  /** Registered vans that have served rows in the range and none in the version. */
  readonly lostVans: readonly string[]
}
