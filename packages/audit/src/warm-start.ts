import { decodeHeartbeat, HEARTBEAT_KIND, parseJsonObject, SETTINGS_KIND } from '@km0/contracts'
import type { TalliedRecord } from '@km0/ledger/log-tally'

/** Heartbeats come every 10 s: a partition that tells no settings for so many records is read from the log's start. */
const MAX_HELD = 50_000

/** The log cannot be judged from the middle: it must be read from its start. */
export class NeedsWholeLog extends Error {
  override readonly name = 'NeedsWholeLog'
}

/**
 * The start of a partition in the middle of the log. Delay and allowed lateness are told by a record at its beginning, which is not read;
 * heartbeats repeat what is in force. So records are held back until one tells it, and a settings record that says the same goes before them.
 */
export class WarmStart {
  #held: TalliedRecord[] | null = []

  /** The records that can be applied now, in order. Throws NeedsWholeLog when nothing tells the settings. */
  take(record: TalliedRecord): readonly TalliedRecord[] {
    if (this.#held === null) return [record]
    this.#held.push(record)
    const settings = settingsIn(record)
    if (settings === null) {
      if (this.#held.length > MAX_HELD) throw new NeedsWholeLog(`no heartbeat in partition ${record.partition} tells the settings in force`)
      return []
    }
    const [first = record] = this.#held
    const released =
      settings === 'own' ? this.#held : [{ ...first, offset: first.offset - 1, digest: null, repaired: false, ...settings }, ...this.#held]
    this.#held = null
    return released
  }

  /** Records that are still held at the end. */
  get isWaiting(): boolean {
    return this.#held !== null && this.#held.length > 0
  }
}

/** A settings record with what a heartbeat repeats; `own` where the record is one itself; null where it tells nothing. */
function settingsIn({
  text,
  byteLength,
  validUtf8,
}: TalliedRecord): 'own' | Pick<TalliedRecord, 'text' | 'byteLength' | 'validUtf8'> | null {
  // Most records are positions: a look is cheaper than a parse.
  if (text === null || !text.includes('"tipus"')) return null
  const value = parseJsonObject(text, byteLength, validUtf8)
  if (value === null) return null
  if (value.tipus === SETTINGS_KIND) return 'own'
  if (value.tipus !== HEARTBEAT_KIND || decodeHeartbeat(value) === null) return null
  const { data_ms, retard_ms, marge_ms } = value
  if (!Number.isSafeInteger(retard_ms) || !Number.isSafeInteger(marge_ms)) return null
  const said = JSON.stringify({ tipus: SETTINGS_KIND, data_ms, retard_ms, marge_ms })
  return { text: said, byteLength: said.length, validUtf8: true }
}
