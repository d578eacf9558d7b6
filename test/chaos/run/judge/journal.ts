// What the vans published against what the log holds.
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { LEDGER_CAUSES, TOPICS } from '@km0/contracts'
import type { JournalLine } from '@km0/fleet/publishing/journal'
import type { Log } from '@km0/transport'
import { type Check, firstOf } from './check.ts'

/** What a broker that saves now and then may lose by kill -9. */
export interface BrokerLoss {
  readonly saveEveryMs: number
  readonly killedMs: readonly number[]
}

/** A save takes its time on a machine that is busy, and so does an acknowledgement on its way. */
const SAVE_SLACK_MS = 3_000

interface Digests {
  /** By SHA-256 of the value: how often it stands there. */
  readonly counts: ReadonlyMap<string, number>
  readonly records: number
}

/**
 * Every message that the broker has acknowledged must be in the log or among the dead letters, and nothing else may be. `loss` is null for a
 * broker that loses nothing.
 */
export async function judgeJournal(log: Log, journal: string, loss: BrokerLoss | null): Promise<Check[]> {
  const lines = await readJournal(journal)
  const stored = await positionsOf(log)
  const refused = await refusedOf(log)
  const isThere = ({ sha256 }: JournalLine) => stored.counts.has(sha256) || refused.has(sha256)
  const missing = lines.filter((line) => !isThere(line))
  const byBroker = missing.filter((line) => isExcused(line, loss))
  const lost = missing.filter((line) => !isExcused(line, loss))
  const published = new Set(lines.map(({ sha256 }) => sha256))
  const invented = [...stored.counts.keys()].filter((digest) => !published.has(digest))
  const twice = stored.records - stored.counts.size
  const atRisk = lines.filter((line) => isExcused(line, loss)).length
  const perdut = loss === null ? '' : `, ${LEDGER_CAUSES.lostAtBroker} ${byBroker.length} of ${atRisk} that no save had before a kill -9`
  return [
    {
      name: 'nothing that the broker acknowledged is lost',
      passed: lost.length === 0 && lines.length > 0,
      detail: `${lines.length} published, ${stored.counts.size} in the log, ${refused.size} refused${perdut}, lost ${lost.length}${
        lost.length === 0
          ? ''
          : `: ${firstOf(lost.map(({ van, event_ms, acked_ms }) => `${van} at ${event_ms}, acknowledged at ${acked_ms}`))}`
      }`,
    },
    {
      name: 'the log holds nothing that no van published',
      passed: invented.length === 0,
      detail: `${stored.records} records, ${twice} of them twice${invented.length === 0 ? '' : `, invented ${invented.length}: ${firstOf(invented)}`}`,
    },
  ]
}

/** Acknowledged so shortly before a kill -9 of the broker that the last save may not have it: save interval times rate is the most that may be missing. */
function isExcused({ acked_ms }: JournalLine, loss: BrokerLoss | null): boolean {
  if (loss === null) return false
  return loss.killedMs.some((killedMs) => acked_ms >= killedMs - loss.saveEveryMs - SAVE_SLACK_MS && acked_ms <= killedMs + SAVE_SLACK_MS)
}

async function readJournal(path: string): Promise<JournalLine[]> {
  const lines: JournalLine[] = []
  for (const file of [`${path}.1`, path]) {
    if (!existsSync(file)) continue
    for await (const line of createInterface({ input: createReadStream(file) })) lines.push(JSON.parse(line) as JournalLine)
  }
  return lines
}

async function positionsOf(log: Log): Promise<Digests> {
  const counts = new Map<string, number>()
  let records = 0
  for await (const batch of log.readTopic({ topic: TOPICS.positions.name })) {
    for (const { key, value } of batch.records) {
      if (key === null || value === null) continue
      const digest = createHash('sha256').update(value).digest('hex')
      counts.set(digest, (counts.get(digest) ?? 0) + 1)
      records += 1
    }
  }
  return { counts, records }
}

/** SHA-256 of what the bridge refused. */
async function refusedOf(log: Log): Promise<Set<string>> {
  const digests = new Set<string>()
  for await (const batch of log.readTopic({ topic: TOPICS.deadLetters.name })) {
    for (const { value } of batch.records) {
      const { sha256 } = JSON.parse(value?.toString('utf8') ?? '{}') as { sha256?: string }
      if (sha256 !== undefined) digests.add(sha256)
    }
  }
  return digests
}
