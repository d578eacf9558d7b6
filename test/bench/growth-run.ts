// One size of `growth.ts` in a process of its own: prints a line of JSON.
import { createPositionsHost } from '@km0/pipelines'
import { PartitionTask } from '../../apps/stream/src/partition-task.ts'
import { POINT_EVERY_MS, recordsAt, type Size } from './growth-log.ts'

export interface Cost {
  readonly records: number
  /** Of applying records, without making them, and of the states for a checkpoint. */
  readonly cpuSeconds: number
  /** Heap after a collection, above what the program has without vans. */
  readonly stateMb: number
  readonly checkpointMb: number
}

const SLICE = 10_000
const MB = 1e6

const collect = (globalThis as { gc?: () => void }).gc ?? (() => undefined)
const heap = () => {
  collect()
  return process.memoryUsage().heapUsed
}

function run(size: Size): Cost {
  const emptyBytes = heap()
  const tasks = Array.from(
    { length: size.partitions },
    (_, partition) => new PartitionTask(partition, 1, createPositionsHost(undefined, null, { coalesceLivePoints: true }), 0),
  )
  let records = 0
  let cpuMicros = 0
  const measured = <Result>(work: () => Result): Result => {
    const before = process.cpuUsage()
    const result = work()
    const { user, system } = process.cpuUsage(before)
    cpuMicros += user + system
    return result
  }
  for (let tick = 0; tick < (size.minutes * 60_000) / POINT_EVERY_MS; tick += 1) {
    for (const task of tasks) {
      const all = recordsAt(size, task.partition, tick, task.nextOffset)
      for (let first = 0; first < all.length; first += SLICE) {
        const slice = all.slice(first, first + SLICE)
        measured(() => task.apply(slice, task.nextOffset + slice.length))
      }
      records += all.length
    }
  }
  const checkpointBytes = measured(() => tasks.reduce((sum, task) => sum + stateBytes(task), 0))
  return { records, cpuSeconds: cpuMicros / 1e6, stateMb: (heap() - emptyBytes) / MB, checkpointMb: checkpointBytes / MB }
}

/** As it is written, before it is packed. */
function stateBytes(task: PartitionTask): number {
  let bytes = 0
  for (const line of task.snapshotLines()) bytes += line.length + 1
  return bytes
}

console.log(JSON.stringify(run(JSON.parse(process.argv[2] ?? '{}') as Size)))
