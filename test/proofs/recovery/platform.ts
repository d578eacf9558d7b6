// The platform as `npm start` runs it with its demo fleet, in this process's hands.
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Guard, startGuard } from '@km0/infra/embedded/guard'
import { freePort } from '@km0/infra/embedded/ports'
import type { Addresses, Part } from '@km0/infra/launcher/parts'
import { Platform } from '@km0/infra/launcher/platform'
import { takeLock } from '../../../infra/start/lock.mjs'
import { authorizationFor } from '../../chaos/run/panel-key.ts'

const STOP_WITHIN_MS = 15_000

export class RunningPlatform {
  readonly folder = mkdtempSync(join(tmpdir(), 'km0-recovery-'))
  readonly #guard: Guard
  readonly #platform: Platform
  readonly #stopping = new AbortController()
  readonly #healthUrls = new Map<string, string>()
  #addresses: Addresses | null = null
  #authorization: { readonly authorization: string } | null = null
  #url = ''

  private constructor(root: string, panelPort: number) {
    takeLock(this.folder)
    this.#guard = startGuard(STOP_WITHIN_MS)
    this.#platform = new Platform({
      root,
      folder: this.folder,
      start: { help: false, demo: true, reset: false, yes: true, play: null, speed: '60', port: panelPort, dataDir: this.folder },
      guard: this.#guard,
      say: (line) => appendFileSync(join(this.folder, 'launcher.log'), `${new Date().toISOString()} ${line}\n`),
      signal: this.#stopping.signal,
      onHopeless: (reason) => {
        throw new Error(reason)
      },
      adjust: (parts) => this.#note(parts),
    })
  }

  /** Resolves when the panel has shown a first position. */
  static async start(root: string): Promise<RunningPlatform> {
    const platform = new RunningPlatform(root, await freePort())
    platform.#url = await platform.#platform.start()
    return platform
  }

  #note(parts: readonly Part[]): readonly Part[] {
    for (const { name, healthUrl, environment } of parts) {
      this.#healthUrls.set(name, healthUrl)
      const { KAFKA_BROKERS = '', MQTT_URL = '', DATABASE_URL = '', REDIS_URL = '' } = environment
      this.#addresses = { kafkaBrokers: KAFKA_BROKERS, mqttUrl: MQTT_URL, databaseUrl: DATABASE_URL, redisUrl: REDIS_URL }
    }
    return parts
  }

  /** Of the panel, with a slash at its end. */
  get url(): string {
    return this.#url
  }

  get addresses(): Pick<Addresses, 'databaseUrl'> {
    return { databaseUrl: this.#addresses?.databaseUrl ?? '' }
  }

  /** Asks the panel, with a token of its own from the first time on. */
  async askPanel(path: string, withinMs: number): Promise<Response> {
    this.#authorization ??= await authorizationFor(this.addresses.databaseUrl)
    return fetch(`${this.#url}${path}`, { headers: this.#authorization, signal: AbortSignal.timeout(withinMs) })
  }

  /** Address of a part's health; metrics are beside it. */
  healthUrlOf(part: string): string {
    return this.#healthUrls.get(part) ?? ''
  }

  /** Process of a part or service; undefined while it does not run. */
  pidOf(name: string): Promise<number | undefined> {
    return this.#platform.pidOf(name)
  }

  async close(keep: boolean): Promise<void> {
    this.#stopping.abort()
    await this.#platform.stop(STOP_WITHIN_MS).catch((error: Error) => console.error(error.message))
    await this.#guard.close()
    if (!keep) rmSync(this.folder, { recursive: true, force: true })
  }
}
