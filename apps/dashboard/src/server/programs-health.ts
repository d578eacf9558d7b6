import type { SourceHealth } from './panel-source.ts'

/** How often the other programs are asked. */
export const ASK_EVERY_MS = 2_000
const ANSWER_WITHIN_MS = 1_500

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
  readonly #parts = new Map<string, SourceHealth>()
  #timer: NodeJS.Timeout | undefined
  #asking = false

  constructor(programs: ReadonlyMap<string, string>) {
    this.#programs = programs
  }

  /** By program; one that was not asked yet is left out. */
  parts(): Readonly<Record<string, SourceHealth>> {
    return Object.fromEntries(this.#parts)
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
    await Promise.all([...this.#programs].map(async ([name, url]) => this.#parts.set(name, await healthOf(url))))
    this.#asking = false
  }
}

async function healthOf(url: string): Promise<SourceHealth> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
    const { status } = (await response.json()) as { status?: unknown }
    return status === 'ok'
      ? { status: 'ok' }
      : { status: 'degraded', detail: status === 'down' ? 'says that it is down' : 'says that not all is well' }
  } catch {
    return { status: 'degraded', detail: 'does not answer' }
  }
}
