import type { Savepoint } from '@km0/checkpoints'
import { CommandError } from './command.ts'

/** What the log says of the topic now. */
export interface TopicNow {
  readonly clusterId: string
  readonly topicEpoch: number
  /** By partition: offset of the oldest record, offset after the newest one. */
  readonly starts: ReadonlyMap<number, number>
  readonly ends: ReadonlyMap<number, number>
}

export interface RestoreWish {
  /** null: as many as the savepoint has. */
  readonly partitions: number | null
  readonly newTopic: boolean
  readonly acceptHole: boolean
  readonly acceptLoss: boolean
}

export interface RestorePlan {
  /** `same`: the states go where they were. `grow`: the topic gets more partitions. `replace`: it is deleted and made anew. */
  readonly way: 'same' | 'grow' | 'replace'
  readonly partitions: number
  /** Whether vans change their partition. */
  readonly moves: boolean
  /** Where each partition goes on. */
  readonly offsets: ReadonlyMap<number, number>
  /** What retention has deleted since the savepoint was made. */
  readonly holes: readonly { readonly partition: number; readonly fromOffset: number; readonly toOffset: number }[]
}

/**
 * How a savepoint is put into the topic as it is now. `unreadAtEnd` records at the end of a partition are none to read. Throws CommandError
 * when it cannot be, or not without being told so; the message says what to do.
 */
export function planRestore(savepoint: Savepoint, now: TopicNow, wish: RestoreWish, unreadAtEnd: number): RestorePlan {
  const before = savepoint.partitions.length
  const partitions = wish.partitions ?? before
  const isSameLog = savepoint.clusterId === now.clusterId && savepoint.topicEpoch === now.topicEpoch
  if (wish.newTopic) return replaceTopic(savepoint, now, partitions, isSameLog, wish.acceptLoss, unreadAtEnd)
  if (!isSameLog) {
    throw new CommandError(
      `the offsets of ${savepoint.name} are those of another ${savepoint.topic} (Kafka cluster ${savepoint.clusterId}): they mean nothing in this one. ` +
        'With --new-topic its states begin a new topic.',
    )
  }
  if (partitions < before) {
    throw new CommandError(`Kafka takes no partitions away: say --new-topic --partitions ${partitions}, which begins the topic anew`)
  }
  if (now.ends.size > partitions || (partitions === before && now.ends.size !== before)) {
    throw new CommandError(`${savepoint.topic} has ${now.ends.size} partitions, the savepoint ${before}: say --partitions ${now.ends.size}`)
  }
  const holes = holesOf(savepoint, now)
  if (holes.length > 0 && !wish.acceptHole) throw new CommandError(`${describeHoles(holes)} With --accept-hole it goes on behind it.`)
  if (partitions > before) requireDrained(savepoint, now, unreadAtEnd)
  const offsets = new Map<number, number>()
  for (let partition = 0; partition < partitions; partition += 1) offsets.set(partition, now.starts.get(partition) ?? 0)
  for (const { partition, offset } of savepoint.partitions) offsets.set(partition, Math.max(offset, now.starts.get(partition) ?? 0))
  return { way: partitions > before ? 'grow' : 'same', partitions, moves: partitions > before, offsets, holes }
}

function replaceTopic(
  savepoint: Savepoint,
  now: TopicNow,
  partitions: number,
  isSameLog: boolean,
  acceptLoss: boolean,
  unreadAtEnd: number,
): RestorePlan {
  if (isSameLog) requireDrained(savepoint, now, unreadAtEnd)
  const held = [...now.ends].reduce((sum, [partition, end]) => sum + end - (now.starts.get(partition) ?? 0), 0)
  if (held > 0 && !acceptLoss) {
    throw new CommandError(
      `${savepoint.topic} holds ${held} records, which are deleted with it: what the lake does not have is lost for batch and replay. Say --yes.`,
    )
  }
  const offsets = new Map(Array.from({ length: partitions }, (_, partition) => [partition, 0]))
  return { way: 'replace', partitions, moves: partitions !== savepoint.partitions.length, offsets, holes: [] }
}

/** Vans change their partition: whatever came after the savepoint would be in the wrong one. */
function requireDrained({ name, topic, partitions }: Savepoint, now: TopicNow, unreadAtEnd: number): void {
  const after = partitions.flatMap(({ partition, offset }) => {
    const records = (now.ends.get(partition) ?? 0) - offset
    return records > unreadAtEnd ? [`partition ${partition}: ${records}`] : []
  })
  if (after.length === 0) return
  throw new CommandError(
    `${topic} has records that came after the savepoint ${name} (${after.join(', ')}). Stop whoever writes it, let the job read to the end, ` +
      'stop the job, which stores its states once more, make a savepoint of them and restore that one.',
  )
}

function holesOf(savepoint: Savepoint, now: TopicNow): RestorePlan['holes'] {
  return savepoint.partitions.flatMap(({ partition, offset }) => {
    const end = now.ends.get(partition)
    if (end === undefined || end < offset) {
      const is = end === undefined ? 'does not exist' : `ends at offset ${end}`
      throw new CommandError(
        `partition ${partition} of ${savepoint.topic} ${is}, but the savepoint was made at ${offset}: it is another log`,
      )
    }
    const start = now.starts.get(partition) ?? 0
    return start > offset ? [{ partition, fromOffset: offset, toOffset: start }] : []
  })
}

/** Says what is missing, and how to get it. */
export function describeHoles(holes: RestorePlan['holes']): string {
  const spans = holes.map(({ partition, fromOffset, toOffset }) => `partition ${partition}: ${fromOffset} to ${toOffset - 1}`)
  return (
    `retention has deleted records that came after the savepoint (${spans.join('; ')}): live results of that time will be missing, ` +
    'and a backfill from the lake makes them (`pnpm km0 backfill run --help`).'
  )
}
