import { type Emission, LEDGER_CAUSES, type LedgerReport, positionTopic } from '@km0/contracts'
import { balanceLedger, JournalTally, LogTally, reasonOf, resultKindOf } from '@km0/ledger'
import { textKey } from '@km0/ledger/count-table'
import { createPositionsHost } from '@km0/pipelines'

// A small platform in memory, with a fault at one place. What the tests of the ledger share.

export const T0 = 1_772_442_000_000
const PARTITIONS = 2

/** Where something goes wrong, and how often. */
export interface Faults {
  /** Acknowledged by the broker, never given on. */
  readonly brokerLoses: number
  /** Received by the bridge, in no log. */
  readonly bridgeLoses: number
  /** Written twice by one bridge. */
  readonly bridgeDoubles: number
  /** Written by a bridge that died before it told the broker, and again by the next one. */
  readonly crashDoubles: number
  /** Redeliveries that the bridge finds. */
  readonly twins: number
  /** In the log, from nowhere. */
  readonly aliens: number
  readonly jobLosesLetters: number
  readonly jobDoublesLetters: number
  readonly jobLosesLate: number
  readonly jobLosesResults: number
  readonly jobInventsResults: number
  readonly servingLoses: number
  readonly lakeLoses: number
  /** The last messages have not come yet. */
  readonly onTheWay: number
  /** The job has not come to the last records of each partition. */
  readonly jobBehind: number
}

export const NO_FAULTS: Faults = {
  brokerLoses: 0,
  bridgeLoses: 0,
  bridgeDoubles: 0,
  crashDoubles: 0,
  twins: 0,
  aliens: 0,
  jobLosesLetters: 0,
  jobDoublesLetters: 0,
  jobLosesLate: 0,
  jobLosesResults: 0,
  jobInventsResults: 0,
  servingLoses: 0,
  lakeLoses: 0,
  onTheWay: 0,
  jobBehind: 0,
}

interface Message {
  readonly van: string
  readonly eventMs: number
  readonly arrivalMs: number
  readonly text: string
}

interface WorldRecord {
  readonly partition: number
  readonly timestampMs: number
  readonly text: string
}

/** Ten minutes of a few vans: late points, a null island, a message that is no JSON, every 10 s a heartbeat. */
function fleet(vans: number): Message[] {
  const messages: Message[] = []
  for (let second = 0; second < 900; second += 15) {
    for (let index = 0; index < vans; index += 1) {
      const arrivalMs = T0 + second * 1_000 + index
      const lateMs = [420_000, 900, 900, 900, 200_000][(second / 15 + index) % 9] ?? 900
      const [van, eventMs] = [`van-${index}`, arrivalMs - lateMs]
      const lat = (second / 15 + index) % 17 === 0 ? 0 : 41.9 + second / 1e5
      messages.push({ van, eventMs, arrivalMs, text: JSON.stringify({ repartidor: van, lat, lon: lat === 0 ? 0 : 2.8, data_ms: eventMs }) })
    }
  }
  return messages
}

/** The bridge's part: what it tells in heartbeats, and what it writes. */
class Bridge {
  readonly log: WorldRecord[] = []
  #instance = 1
  #told = { rebuts: 0, bessons: 0, tics: 0 }

  receive(message: Message, write: number, twins = 0): void {
    this.#told.rebuts += 1 + twins
    this.#told.bessons += twins
    for (let copy = 0; copy < write; copy += 1) this.put(message)
  }

  put({ van, arrivalMs, text }: Message): void {
    this.log.push({ partition: textKey(van) % PARTITIONS, timestampMs: arrivalMs, text })
  }

  beat(ms: number): void {
    const text = JSON.stringify({ tipus: 'batec', data_ms: ms, pont: `pont-${this.#instance}`, ...this.#told })
    for (let partition = 0; partition < PARTITIONS; partition += 1) this.log.push({ partition, timestampMs: ms, text })
  }

  die(): void {
    this.#instance += 1
    this.#told = { rebuts: 0, bessons: 0, tics: 0 }
  }
}

function runBridge(messages: readonly Message[], faults: Faults): WorldRecord[] {
  const bridge = new Bridge()
  const settings = JSON.stringify({ tipus: 'parametres', data_ms: T0, retard_ms: 45_000, marge_ms: 0 })
  for (let partition = 0; partition < PARTITIONS; partition += 1) bridge.log.push({ partition, timestampMs: T0, text: settings })
  const arriving = messages.slice(0, messages.length - faults.onTheWay)
  const middle = Math.floor(arriving.length / 2)
  let beatMs = T0
  for (const [index, message] of arriving.entries()) {
    while (beatMs <= message.arrivalMs) {
      bridge.beat(beatMs)
      beatMs += 10_000
    }
    const at = index - middle
    if (at >= 0 && at < faults.brokerLoses) continue
    if (at >= 0 && at < faults.bridgeLoses) bridge.receive(message, 0)
    else if (at >= 0 && at < faults.bridgeDoubles) bridge.receive(message, 2)
    else bridge.receive(message, 1, at >= 0 && at < faults.twins ? 1 : 0)
    if (index === middle && faults.crashDoubles > 0) {
      bridge.die()
      // What was not acknowledged comes again, to the next instance.
      for (const again of arriving.slice(middle - faults.crashDoubles + 1, middle + 1))
        bridge.receive({ ...again, arrivalMs: message.arrivalMs }, 1)
    }
    if (at >= 0 && at < faults.aliens) {
      bridge.put({ ...message, text: JSON.stringify({ repartidor: message.van, lat: 41, lon: 2, data_ms: message.eventMs + 1 }) })
    }
  }
  const endMs = (messages.at(-1)?.arrivalMs ?? T0) + 600_000
  for (; beatMs < endMs; beatMs += 10_000) bridge.beat(beatMs)
  return bridge.log
}

/** Runs the platform with its faults and returns the ledger of all of it. */
export function ledgerOf(faults: Faults, vans = 4): LedgerReport {
  const messages = fleet(vans)
  const log = runBridge(messages, faults)
  const offsets = new Array<number>(PARTITIONS).fill(0)
  const placed = log.map((record) => ({ ...record, offset: offsets[record.partition]!++ }))
  const span = new Map(offsets.map((until, partition) => [partition, { from: 0, until }]))
  const behind = new Map(offsets.map((until, partition) => [partition, until - faults.jobBehind]))
  const tally = new LogTally(host(), span, { windowing: behind, lake: new Map(offsets.entries()) }, T0)
  const job = host()
  const emitted: Emission[] = []
  for (const { partition, offset, timestampMs, text } of placed) {
    const [byteLength, validUtf8] = [Buffer.byteLength(text), true]
    tally.apply({ partition, offset, timestampMs, text, byteLength, validUtf8, digest: digestOf(text), repaired: false })
    job.onRecord(partition, offset, timestampMs, null, text, byteLength, validUtf8)
    if (offset < (behind.get(partition) ?? 0)) emitted.push(...job.drain())
    else job.drain()
  }
  sinks(tally, emitted, faults)
  const journal = new JournalTally(tally.messages, false)
  for (const { van, eventMs, arrivalMs, text } of messages) {
    journal.line({ van, eventMs, arrivalMs, sha256: hexOf(digestOf(text)), verbatim: positionTopic(van) !== '' }, true)
  }
  journal.endOfJournal()
  return report(tally, journal, faults)
}

const host = () => createPositionsHost()
const digestOf = (text: string) => textKey(text) % 2 ** 52
/** A SHA-256 that has this key: `digestKey` reads its first 52 bits. */
const hexOf = (key: number) => key.toString(16).padStart(13, '0').padEnd(64, '0')

function sinks(tally: LogTally, emitted: readonly Emission[], faults: Faults): void {
  const of = (output: Emission['output']) => emitted.filter((emission) => emission.output === output)
  for (const { partition, offset, value } of of('rebutjats').slice(faults.jobLosesLetters))
    tally.deadLetters.found(partition, offset, reasonOf(value))
  for (const { partition, offset, value } of of('rebutjats').slice(-faults.jobDoublesLetters || of('rebutjats').length))
    tally.deadLetters.found(partition, offset, reasonOf(value))
  for (const { partition, offset, value } of of('tardans').slice(faults.jobLosesLate)) tally.late.found(partition, offset, reasonOf(value))
  const keys = [...new Set(of('panell').map(({ key }) => key ?? ''))]
  const stored = keys.filter((key) => resultKindOf(key) === 'distancia')
  const lost = new Set(stored.slice(0, faults.jobLosesResults))
  for (const key of keys) if (!lost.has(key)) tally.results.found(key, 'in-span', true)
  for (let n = 0; n < faults.jobInventsResults; n += 1) tally.results.found(`distancia|ningu|${n}`, 'in-span', true)
}

function report(tally: LogTally, journal: JournalTally, faults: Faults): LedgerReport {
  const results = tally.results.counts()
  const counts = tally.counts()
  return balanceLedger({
    madeAtMs: T0,
    span: { fromMs: T0, toMs: T0 + 3_600_000 },
    basis: { replayedFromMs: T0, records: 0, exact: true },
    log: counts,
    logIsCut: false,
    journal: { ...journal.counts(), losses: journal.losses(), isCut: false },
    bridge: tally.bridge.counts(),
    deadLetters: { ...tally.deadLetters.counts(), isCut: false },
    late: { ...tally.late.counts(), isCut: false },
    results,
    resultsAreCut: false,
    lake: { rows: counts.keptSettled - faults.lakeLoses, holes: 0, isCut: false },
    stored: {
      rows: { distancia: results.distancia.found - faults.servingLoses, sessio: results.sessio.found, senyal: results.senyal.found },
      newerSignals: 0,
      isCut: false,
    },
  })
}

/** Change of a cause in the step between two stations; 0 when it is not named. */
export function changeOf(ledger: LedgerReport, from: string, to: string, cause: keyof typeof LEDGER_CAUSES): number {
  return stepOf(ledger, from, to).lines.find((line) => line.cause === LEDGER_CAUSES[cause])?.change ?? 0
}

export function stepOf(ledger: LedgerReport, from: string, to: string) {
  const step = ledger.steps.find((known) => known.from === from && known.to === to)
  if (step === undefined) throw new Error(`there is no step from ${from} to ${to}`)
  return step
}
