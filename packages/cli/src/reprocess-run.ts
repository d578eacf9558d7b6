import type { PositionsSettings } from '@km0/contracts'
import { type Lake, logStart, POSITIONS, readLog, type StoredRecord } from '@km0/lake'
import type { Reprocessing, Reprocessings } from '@km0/serving'
import type { Log } from '@km0/transport'
import { CommandError } from './command.ts'
import { ofLog, ReprocessedPartition, type SourceRecord } from './reprocess-partition.ts'

/** The live code needs some of the past to begin with: windows, open sessions, the watermark. */
export const WARM_UP_MS = 3_600_000
const STORE_RECORDS = 100_000
const STORE_EVERY_MS = 2_000

export interface RunParts {
  readonly lake: Lake
  readonly log: Log
  readonly store: Reprocessings
  readonly rules: PositionsSettings
  readonly topic: string
  readonly say: (line: string) => void
  readonly signal: AbortSignal
}

/**
 * Goes on with a reprocessing: the lake up to each partition's seam, then the log from the seam on. Resolves when everything that the log held
 * at that time is in (`untilCaughtUp`), or when it is told to stop. Throws a CommandError when log and lake do not meet.
 */
export async function runReprocessing(of: Reprocessing, parts: RunParts, untilCaughtUp: boolean): Promise<void> {
  const tasks = new Map(of.partitions.map((place) => [place.partition, new ReprocessedPartition(parts.rules, place)]))
  const storing = new Storing(of, parts.store, tasks)
  for (const { partition, seamOffset } of of.partitions) {
    const task = tasks.get(partition)
    if (task === undefined || task.nextOffset >= seamOffset || parts.signal.aborted) continue
    parts.say(`partition ${partition}: offsets ${task.nextOffset} to ${seamOffset - 1} from the lake`)
    await throughLake(of, parts, task, seamOffset, storing)
  }
  if (parts.signal.aborted) return
  await requireSeam(parts, tasks)
  await throughLog(of, parts, tasks, storing, untilCaughtUp)
}

async function throughLake(of: Reprocessing, { lake, signal }: RunParts, task: ReprocessedPartition, seamOffset: number, storing: Storing) {
  const { partition } = task
  const isStart = of.partitions.find((place) => place.partition === partition)?.snapshot === null
  if (isStart) {
    const { settings } = await logStart(lake, { table: POSITIONS, epoch: of.epoch, partition, arrivalMs: of.fromMs - WARM_UP_MS })
    if (settings !== null && settings.offset < task.nextOffset) task.configure(ofLake(settings))
  }
  const query = { table: POSITIONS, epoch: of.epoch, partition, fromOffset: task.nextOffset, untilOffset: seamOffset }
  for await (const records of readLog(lake, query)) {
    task.apply(records.map(ofLake), 0)
    if (task.pending >= STORE_RECORDS) await storing.store()
    if (signal.aborted) return storing.store()
  }
  // What the lake does not keep, refused records, moves nothing.
  task.apply([], seamOffset)
  await storing.store()
}

const ofLake = ({ offset, timestampMs, text }: StoredRecord): SourceRecord => ({ offset, timestampMs, text, isUtf8: true })

/** Every record that the lake has not must still be in the log, and it must be the same log. */
async function requireSeam({ log, topic }: RunParts, tasks: ReadonlyMap<number, ReprocessedPartition>): Promise<void> {
  const [starts, ends] = [await log.startOffsets(topic), await log.endOffsets(topic)]
  for (const [partition, { nextOffset }] of tasks) {
    const [first, end] = [starts.get(partition) ?? 0, ends.get(partition) ?? 0]
    if (nextOffset < first)
      throw new CommandError(
        `records are missing at the seam: partition ${partition} goes on at offset ${nextOffset}, Kafka begins at ${first}. Begin anew under another name: the lake may have them by now`,
      )
    if (nextOffset > end) throw new CommandError(`this is another log: partition ${partition} ends at ${end}, before offset ${nextOffset}`)
  }
}

async function throughLog(
  of: Reprocessing,
  { log, topic, say, signal, rules }: RunParts,
  tasks: Map<number, ReprocessedPartition>,
  storing: Storing,
  untilCaughtUp: boolean,
): Promise<void> {
  let finish: (error?: Error) => void = () => undefined
  const finished = new Promise<void>((resolve, reject) => {
    finish = (error) => (error === undefined ? resolve() : reject(error))
  })
  for (const partition of (await log.endOffsets(topic)).keys())
    if (!tasks.has(partition))
      tasks.set(partition, new ReprocessedPartition(rules, { partition, nextOffset: 0, snapshot: null, openSessions: {} }))
  const from = new Map([...tasks].map(([partition, task]) => [partition, task.nextOffset]))
  say(`from the log: ${[...from].map(([partition, offset]) => `partition ${partition} from offset ${offset}`).join(', ')}`)
  const tail = await log.tailTopic({
    topic,
    from,
    onOtherLog: (partition) => finish(new CommandError(`partition ${partition} is of another log`)),
    onBatch: async (records, partition) => {
      tasks.get(partition)?.apply(records.map(ofLog), 0)
      await storing.storeDue()
    },
    onCaughtUp: () => {
      say(
        `${of.name} has caught up with the log${untilCaughtUp ? '' : ' and stays up to date; Ctrl-C ends it, and the same command goes on'}`,
      )
      if (untilCaughtUp) finish()
    },
    onError: (error) => finish(error),
  })
  const timer = setInterval(() => void storing.storeDue().catch((error: Error) => finish(error)), STORE_EVERY_MS)
  signal.addEventListener('abort', () => finish(), { once: true })
  if (signal.aborted) finish()
  try {
    await finished
  } finally {
    clearInterval(timer)
    await tail.close()
  }
  await storing.store()
}

/** Stores what the partitions have made, all together, one store at a time. */
class Storing {
  readonly #of: Reprocessing
  readonly #store: Reprocessings
  readonly #tasks: ReadonlyMap<number, ReprocessedPartition>
  #turn: Promise<void> = Promise.resolve()
  #lastMs = performance.now()

  constructor(of: Reprocessing, store: Reprocessings, tasks: ReadonlyMap<number, ReprocessedPartition>) {
    this.#of = of
    this.#store = store
    this.#tasks = tasks
  }

  /** Stores when enough has come, or some time has passed. */
  async storeDue(): Promise<void> {
    const pending = [...this.#tasks.values()].reduce((sum, task) => sum + task.pending, 0)
    if (pending >= STORE_RECORDS || (pending > 0 && performance.now() - this.#lastMs >= STORE_EVERY_MS)) await this.store()
  }

  store(): Promise<void> {
    this.#turn = this.#turn.then(async () => {
      this.#lastMs = performance.now()
      const advances = [...this.#tasks.values()].filter((task) => task.hasMoved).map((task) => task.take())
      if (advances.length > 0) await this.#store.advance(this.#of, advances, Date.now())
    })
    return this.#turn
  }
}
