import type {
  Actor,
  Depot,
  HandOverChange,
  ImportView,
  Market,
  MuteView,
  RegisteredVan,
  RegisterKind,
  Scope,
  Shift,
  SilenceEpisode,
  TravelTotal,
  UsualDistance,
} from '@km0/contracts'
import { EVERYTHING } from '@km0/contracts'
import { Pool, type PoolOptions } from '../pool.ts'
import { readDepots, readRegistered } from '../read-panel.ts'
import type { StoredRegister } from '../register/register-export.ts'
import { putVans } from '../register.ts'
import { readEpisodes } from './episodes.ts'
import { readHandOver } from './hand-over.ts'
import { type MuteCommand, mute, readMutes, unmute } from './mutes.ts'
import { clearShifts, removePlace } from './register-edit.ts'
import { importCsv, readMarkets, readShifts, readStoredRegister } from './register-store.ts'
import { readTravelTotals } from './travel-totals.ts'
import { computeUsual, readUsual } from './usual.ts'

/** What the panel holds in memory of dispatch, of all vans. */
export interface StoredDispatch {
  readonly depots: readonly Depot[]
  readonly registered: readonly RegisteredVan[]
  readonly markets: readonly Market[]
  readonly shifts: readonly Shift[]
  readonly mutes: readonly MuteView[]
  readonly episodes: readonly SilenceEpisode[]
  readonly usual: { readonly fromMs: number; readonly toMs: number; readonly vans: readonly UsualDistance[] } | null
}

/** So far back corrected silences are told. */
const CORRECTED_MS = 12 * 3_600_000
const EPISODES_MAX = 2_000

/** The register, mutes, silences and what is usual. Every method rejects with ServingUnavailableError while PostgreSQL is away. */
export class Dispatch {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Everything that the panel holds, as of one moment; silences that ended within `returnedMs` before `nowMs`, or were corrected. */
  async read(nowMs: number, returnedMs: number): Promise<StoredDispatch> {
    const usual = await readUsual(this.#pool, nowMs)
    return this.#pool.transaction('begin isolation level repeatable read read only', async (client) => ({
      depots: await readDepots(client, EVERYTHING),
      registered: await readRegistered(client, EVERYTHING),
      markets: await readMarkets(client, EVERYTHING),
      shifts: await readShifts(client, EVERYTHING),
      mutes: await readMutes(client, EVERYTHING, nowMs),
      episodes: await readEpisodes(client, EVERYTHING, {
        fromMs: nowMs - CORRECTED_MS,
        toMs: nowMs + 1,
        endedFromMs: nowMs - returnedMs,
        limit: EPISODES_MAX,
      }),
      usual,
    }))
  }

  readRegister(scope: Scope): Promise<StoredRegister> {
    return readStoredRegister(this.#pool, scope)
  }

  /** What importing a file would do; nothing is stored. */
  tryImport(kind: RegisterKind, csv: string): Promise<ImportView> {
    return importCsv(this.#pool, kind, csv, false)
  }

  /** All lines of a CSV file, or none. */
  importCsv(kind: RegisterKind, csv: string): Promise<ImportView> {
    return importCsv(this.#pool, kind, csv, true)
  }

  /** Puts one van into the register. Throws RegisterImportError when its depot is not registered. */
  async putVan(van: RegisteredVan): Promise<void> {
    await this.#pool.transaction('begin', (client) => putVans(client, [{ line: 1, row: van }]))
  }

  /** Takes a depot's calendar away. */
  clearShifts(depotId: string): Promise<boolean> {
    return clearShifts(this.#pool, depotId)
  }

  /** False when there is none. Throws RegisterImportError while it is in use. */
  removePlace(kind: 'depots' | 'markets', id: string): Promise<boolean> {
    return removePlace(this.#pool, kind, id)
  }

  mute(scope: Scope, command: MuteCommand): Promise<number | null> {
    return mute(this.#pool, scope, command)
  }

  unmute(scope: Scope, id: number, actor: Actor, atMs: number): Promise<boolean> {
    return unmute(this.#pool, scope, id, actor, atMs)
  }

  readHandOver(
    scope: Scope,
    span: { readonly fromMs: number; readonly toMs: number },
  ): Promise<{ readonly changes: readonly HandOverChange[]; readonly more: boolean }> {
    return readHandOver(this.#pool, scope, span)
  }

  readTravelTotals(scope: Scope, hourMs: number): Promise<TravelTotal[]> {
    return readTravelTotals(this.#pool, scope, hourMs)
  }

  computeUsual(atMs: number, computedAtMs: number): Promise<boolean> {
    return computeUsual(this.#pool, atMs, computedAtMs)
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

/** Opens the store of dispatch. Connects at the first use. */
export function openDispatch(options: PoolOptions): Dispatch {
  return new Dispatch(new Pool(options))
}
