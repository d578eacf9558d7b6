import { z } from 'zod'
import type { SourceHealth } from './panel-source.ts'

/** How often the other programs are asked. */
export const ASK_EVERY_MS = 2_000
const ANSWER_WITHIN_MS = 1_500
/** Asked so often in a row without an answer a program counts as silent: one answer that is late is a busy machine. */
const SILENT_AFTER = 2

const STATUS = z.enum(['ok', 'degraded', 'down'])
const healthReport = z.object({
  status: STATUS,
  parts: z.record(z.string(), z.object({ status: STATUS })).default({}),
})

/** How a program said that it is, without its words; `silent` when it did not answer. */
export interface ProgramReport {
  readonly status: z.infer<typeof STATUS> | 'silent'
  readonly parts: Readonly<Record<string, z.infer<typeof STATUS>>>
}

/** Addresses in text like `bridge=http://127.0.0.1:9101/health,batch=…`, by name; null when an entry is none. */
export function readPrograms(text: string): Map<string, string> | null {
  const programs = new Map<string, string>()
  for (const entry of text.split(',').map((part) => part.trim())) {
    if (entry === '') continue
    const [, name, url] = /^([^=]+)=(https?:\/\/.+)$/.exec(entry) ?? []
    if (name === undefined || url === undefined || !URL.canParse(url)) return null
    programs.set(name, url)
  }
  return programs
}

/**
 * How the other programs of the platform are, as they say themselves at their health addresses. One that is down or does not answer makes
 * the whole `degraded`: the panel still shows what it has. What they say in words stays with them.
 */
export class ProgramsHealth {
  readonly #programs: ReadonlyMap<string, string>
  readonly #reports = new Map<string, ProgramReport>()
  /** Answers that did not come, in a row, by program. */
  readonly #missed = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #asking = false

  constructor(programs: ReadonlyMap<string, string>) {
    this.#programs = programs
  }

  /** By program; one that was not asked yet is left out. */
  parts(): Readonly<Record<string, SourceHealth>> {
    return Object.fromEntries([...this.#reports].map(([name, report]) => [name, healthOf(report)]))
  }

  /** The same by part, for who looks for a cause. */
  reports(): ReadonlyMap<string, ProgramReport> {
    return this.#reports
  }

  start(): void {
    if (this.#programs.size === 0) return
    this.#timer = setInterval(() => void this.#askAll(), ASK_EVERY_MS)
    void this.#askAll()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #askAll(): Promise<void> {
    if (this.#asking) return
    this.#asking = true
    await Promise.all([...this.#programs].map(async ([name, url]) => this.#take(name, await ask(url))))
    this.#asking = false
  }

  #take(name: string, report: ProgramReport): void {
    const missed = report.status === 'silent' ? (this.#missed.get(name) ?? 0) + 1 : 0
    this.#missed.set(name, missed)
    if (missed === 0 || missed >= SILENT_AFTER || !this.#reports.has(name)) this.#reports.set(name, report)
  }
}

function healthOf({ status }: ProgramReport): SourceHealth {
  if (status === 'ok') return { status }
  return { status: 'degraded', detail: WORDS[status] }
}

const WORDS = { down: 'says that it is down', degraded: 'says that not all is well', silent: 'does not answer' } as const

async function ask(url: string): Promise<ProgramReport> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
    const { status, parts } = healthReport.parse(await response.json())
    return { status, parts: Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, part.status])) }
  } catch {
    return { status: 'silent', parts: {} }
  }
}
