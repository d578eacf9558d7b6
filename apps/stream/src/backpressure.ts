import { Gauge, type PartHealth, type Registry } from '@km0/runtime'

const WINDOW_S = 30
/** A write that takes longer than this is told. */
const LONG_WAIT_MS = 5_000
/** From this share on, health says it. */
const TOLD_FROM = 0.5

/**
 * How much of the time results wait for whoever takes them. Nothing is read from the log meanwhile: what waits is one slice, and the lag
 * grows in Kafka. Writes are one after the other.
 */
export class Backpressure {
  readonly #taker: string
  readonly #nowMs: () => number
  /** Second -> ms of it that were spent waiting; the last `WINDOW_S`. */
  readonly #waited = new Map<number, number>()
  /** The write under way: when it began, and up to when it is counted. */
  #write: { readonly beganMs: number; countedMs: number } | null = null

  /** `taker` is who takes the results, for people. */
  constructor(taker: string, nowMs = () => performance.now()) {
    this.#taker = taker
    this.#nowMs = nowMs
  }

  /** Makes it a metric and a part of health. */
  register(registry: Registry, metric: string, health: { register(name: string, check: () => PartHealth): void }, part: string): void {
    const collect = () => gauge.set(this.ratio())
    const help = `Share of the last ${WINDOW_S} s that results waited for ${this.#taker}; nothing is read meanwhile`
    const gauge: Gauge = new Gauge({ name: metric, help, registers: [registry], collect })
    health.register(part, () => this.health())
  }

  /** Waits for a write, and counts the time. */
  async during<T>(write: Promise<T>): Promise<T> {
    const nowMs = this.#nowMs()
    this.#write = { beganMs: nowMs, countedMs: nowMs }
    try {
      return await write
    } finally {
      this.#count()
      this.#write = null
    }
  }

  /** Share of the last 30 s that was spent waiting: 0 to 1. */
  ratio(): number {
    this.#count()
    const oldest = Math.floor(this.#nowMs() / 1_000) - WINDOW_S
    let ms = 0
    for (const [second, waitedMs] of this.#waited) {
      if (second < oldest) this.#waited.delete(second)
      else ms += waitedMs
    }
    return Math.min(1, ms / (WINDOW_S * 1_000))
  }

  /** Degraded while a write takes long; says so when much of the time goes to waiting. */
  health(): PartHealth {
    const waitingMs = this.#write === null ? 0 : this.#nowMs() - this.#write.beganMs
    if (waitingMs > LONG_WAIT_MS) {
      return {
        status: 'degraded',
        detail: `results have waited for ${this.#taker} for ${Math.round(waitingMs / 1_000)} s; the lag grows in Kafka`,
      }
    }
    const ratio = this.ratio()
    if (ratio < TOLD_FROM) return { status: 'ok' }
    return { status: 'ok', detail: `${Math.round(ratio * 100)} % of the last ${WINDOW_S} s went to waiting for ${this.#taker}` }
  }

  /** Adds what the write under way has waited since it was last counted. */
  #count(): void {
    if (this.#write === null) return
    const nowMs = this.#nowMs()
    let fromMs = Math.max(this.#write.countedMs, nowMs - WINDOW_S * 1_000)
    while (fromMs < nowMs) {
      const second = Math.floor(fromMs / 1_000)
      const toMs = Math.min(nowMs, (second + 1) * 1_000)
      this.#waited.set(second, (this.#waited.get(second) ?? 0) + toMs - fromMs)
      fromMs = toMs
    }
    this.#write.countedMs = nowMs
  }
}
