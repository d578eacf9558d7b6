export type HealthStatus = 'ok' | 'degraded' | 'down'

export interface PartHealth {
  readonly status: HealthStatus
  readonly detail?: string
}

export interface HealthReport {
  readonly status: HealthStatus
  readonly parts: Readonly<Record<string, PartHealth>>
}

const RANK: Record<HealthStatus, number> = { ok: 0, degraded: 1, down: 2 }

/** The parts of a program and how each is; the whole is as bad as its worst part. */
export class Health {
  readonly #checks = new Map<string, () => PartHealth>()

  /** Registers a part. `check` is called at every report and must be quick. */
  register(part: string, check: () => PartHealth): void {
    if (this.#checks.has(part)) throw new Error(`health part ${part} is registered twice`)
    this.#checks.set(part, check)
  }

  report(): HealthReport {
    const parts: Record<string, PartHealth> = {}
    let status: HealthStatus = 'ok'
    for (const [part, check] of this.#checks) {
      const health = check()
      parts[part] = health
      if (RANK[health.status] > RANK[status]) status = health.status
    }
    return { status, parts }
  }
}
