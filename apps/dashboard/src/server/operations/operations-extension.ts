import { CHANNELS, type Channel, DEFAULT_DELAY_TARGET_SHARE } from '@km0/contracts'
import type { LatenessHours, LedgerRuns } from '@km0/serving'
import type { PanelExtension } from '../panel-server.ts'
import type { PanelSource } from '../panel-source.ts'
import type { PanelState } from '../panel-state.ts'
import { json, sessionOf } from '../rest.ts'
import { prepareOperations } from './prepare-operations.ts'
import { ProgramFactsReader } from './program-facts.ts'
import { ProgressBook } from './progress-book.ts'

const NOTE_EVERY_MS = 10_000
const DAY_MS = 86_400_000
const RUNS_LOOKED_AT = 10

export interface OperationsOptions {
  readonly state: Pick<PanelState, 'feed' | 'nextOffsets' | 'nowMs'>
  readonly source: Pick<PanelSource, 'health' | 'endOffsets'>
  readonly programs: ReadonlyMap<string, string>
  readonly lateness: Pick<LatenessHours, 'read'>
  readonly ledgers: Pick<LedgerRuns, 'list'>
  /** Share of the points that may come after the delay. */
  readonly targetShare?: number
  readonly machineNowMs?: () => number
}

/** How the platform is: GET /api/operations. It tells of no van, so whoever is signed in may see it. */
export class OperationsExtension implements PanelExtension {
  readonly #options: OperationsOptions
  readonly #programs: ProgramFactsReader
  readonly #book = new ProgressBook()
  readonly #nowMs: () => number
  #timer: NodeJS.Timeout | undefined

  constructor(options: OperationsOptions) {
    this.#options = options
    this.#nowMs = options.machineNowMs ?? Date.now
    this.#programs = new ProgramFactsReader(options.programs)
  }

  get routes(): PanelExtension['routes'] {
    return new Map([
      [
        '/api/operations',
        {
          GET: async (request, response) => {
            sessionOf(request)
            json(response, 200, await this.#view())
          },
        },
      ],
    ])
  }

  attach(): void {
    this.#timer = setInterval(() => this.#note(), NOTE_EVERY_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** What the batch program can send with; until it has said so, everything. */
  async channels(): Promise<Record<Channel, boolean>> {
    const programs = await this.#programs.read()
    const samples = programs.flatMap(({ metrics }) => metrics.get('km0_delivery_channel') ?? [])
    const can = (channel: Channel) => samples.length === 0 || samples.some(({ labels, value }) => labels.channel === channel && value === 1)
    return Object.fromEntries(CHANNELS.map((channel) => [channel, can(channel)])) as Record<Channel, boolean>
  }

  #note(): void {
    const { state } = this.#options
    const machineMs = this.#nowMs()
    this.#book.note(performance.now(), state.nowMs(machineMs), state.feed(machineMs).partitions, state.nextOffsets())
  }

  async #view() {
    const { state, source, lateness, ledgers } = this.#options
    const nowMs = this.#nowMs()
    const platformNowMs = state.nowMs(nowMs)
    const [programs, hours, runs] = await Promise.all([
      this.#programs.read(),
      // Without the store the rest is shown all the same.
      lateness.read(platformNowMs - DAY_MS).catch(() => []),
      ledgers.list(RUNS_LOOKED_AT).catch(() => []),
    ])
    return prepareOperations({
      ...{ nowMs, platformNowMs, atMs: performance.now(), programs, hours, runs, book: this.#book },
      own: source.health(),
      feed: state.feed(nowMs),
      nextOffsets: state.nextOffsets(),
      endOffsets: source.endOffsets(),
      targetShare: this.#options.targetShare ?? DEFAULT_DELAY_TARGET_SHARE,
    })
  }
}
