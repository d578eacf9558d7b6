import { createReadStream, existsSync, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { MQTT_TOPICS } from '@km0/contracts'
import type { JournalEntry } from '@km0/ledger/journal-tally'
import { z } from 'zod'

/** A line of a publisher's journal; what the fleet writes is in its own room, other publishers may write the same. */
const journalLine = z.object({
  van: z.string(),
  event_ms: z.number().int(),
  arrival_ms: z.number().int(),
  topic: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})

/** A journal cannot be read as one. The message names the line. */
export class JournalError extends Error {
  override readonly name = 'JournalError'
}

/** Topics whose payload the bridge writes byte for byte: `km0/…/repartidors/<id>/posicio`. */
const [VERBATIM_HEAD, VERBATIM_TAIL] = MQTT_TOPICS.positionFilter.split('+') as [string, string]
const isVerbatim = (topic: string) => topic.includes(VERBATIM_HEAD) && topic.endsWith(VERBATIM_TAIL)

/**
 * A journal and the file that it was rotated to, opened before the log is read: what is renamed meanwhile is still read, and a line that comes
 * after the log's end was fixed is only one more that is on its way.
 */
export class JournalFiles {
  readonly #path: string
  readonly #handles: FileHandle[]

  private constructor(path: string, handles: FileHandle[]) {
    this.#path = path
    this.#handles = handles
  }

  /** Opens what is there. Rejects when there is no such file. */
  static async open(path: string): Promise<JournalFiles> {
    const names = [`${path}.1`, path].filter((name) => existsSync(name))
    if (names.length === 0) throw new JournalError(`there is no journal ${path}`)
    return new JournalFiles(path, await Promise.all(names.map((name) => open(name))))
  }

  /**
   * Arrival time from which it is whole: that of its oldest line, as what was rotated away before that is gone. -Infinity while nothing was
   * rotated yet: then there is nothing before it. null for an empty journal.
   */
  async wholeFromMs(): Promise<number | null> {
    const firstMs = await this.#firstMs()
    return firstMs === null || this.#handles.length > 1 ? firstMs : Number.NEGATIVE_INFINITY
  }

  async #firstMs(): Promise<number | null> {
    for (const handle of this.#handles) {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(4_096), 0, 4_096, 0)
      const text = buffer.subarray(0, bytesRead).toString('utf8')
      const end = text.indexOf('\n')
      if (end > 0) return parseLine(text.slice(0, end), this.#path, 1).arrivalMs
    }
    return null
  }

  /** All lines, oldest first. A last line that is still being written is left out. */
  async *lines(): AsyncGenerator<JournalEntry> {
    const read = new Set<number>()
    for (const handle of this.#handles) {
      read.add((await handle.stat()).ino)
      yield* linesOf(handle.createReadStream({ start: 0, autoClose: false }), this.#path)
    }
    // Rotated since it was opened: the newest lines are in a file that was not there.
    if (existsSync(this.#path) && !read.has(statSync(this.#path).ino)) yield* linesOf(createReadStream(this.#path), this.#path)
  }

  async close(): Promise<void> {
    await Promise.all(this.#handles.map((handle) => handle.close()))
  }
}

async function* linesOf(input: NodeJS.ReadableStream, path: string): AsyncGenerator<JournalEntry> {
  let number = 0
  let last: string | null = null
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (last !== null) yield parseLine(last, path, number)
    number += 1
    last = line
  }
  // Whether it ends with a line feed is not told: what cannot be read here was not written whole.
  if (last === null) return
  try {
    yield parseLine(last, path, number)
  } catch (error) {
    if (!(error instanceof JournalError)) throw error
  }
}

function parseLine(text: string, path: string, number: number): JournalEntry {
  const parsed = journalLine.safeParse(json(text))
  if (!parsed.success) throw new JournalError(`${path}, line ${number}: is no line of a journal`)
  const { van, event_ms: eventMs, arrival_ms: arrivalMs, topic, sha256 } = parsed.data
  return { van, eventMs, arrivalMs, sha256, verbatim: isVerbatim(topic) }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
