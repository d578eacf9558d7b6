import { readFileSync } from 'node:fs'
import { createPositionsHost, repartitionTasks } from '@km0/pipelines'
import type { LogRecord } from '@km0/transport'
import { describe, expect, it } from 'vitest'
import { PartitionTask } from './partition-task.ts'
import { RECORDED_AT_MS, RECORDED_CUT, recordedLog } from './recorded-log.ts'

/** Taken by the program of before the state was lines: what an old savepoint holds. */
const recorded = readFileSync(new URL('./state-version-1.txt', import.meta.url), 'utf8').trim()
const VANS = ['furgoneta-3', '__proto__', 'cotxe-ç']
const homeOf = (van: string) => VANS.indexOf(van) % 2

const newTask = (partition: number, epoch: number) =>
  new PartitionTask(partition, epoch, createPositionsHost(undefined, null, { coalesceLivePoints: true }), 0)

/** Twenty minutes in which every van sends in time, for those whose partition `has` accepts. */
function continuation(partition: number, has: (van: string) => boolean): LogRecord[] {
  const firstMs = RECORDED_AT_MS + RECORDED_CUT * 1_000
  const values: { value: object; atMs: number }[] = []
  for (let second = 0; second < 1_200; second += 5) {
    const atMs = firstMs + second * 1_000
    for (const van of VANS.filter(has)) {
      values.push({ value: { repartidor: van, lat: 41.95 + second / 1e5, lon: 2.81, data_ms: atMs - 500 }, atMs })
    }
    values.push({ value: { tipus: 'batec', data_ms: atMs }, atMs })
  }
  return values.map(({ value, atMs }, offset) => ({
    partition,
    offset,
    timestampMs: atMs,
    key: null,
    value: Buffer.from(JSON.stringify(value)),
    headers: {},
  }))
}

const pipelineLines = (state: string) => state.slice(state.indexOf('\n'))

const panelRows = (task: PartitionTask, log: readonly LogRecord[]) =>
  task.apply(log, log.length).records.flatMap(({ topic, key, value }) => (topic.endsWith('.panell') ? [`${key} ${String(value)}`] : []))

describe('an old savepoint that is restored into more partitions', () => {
  it('goes on with the same results, each van where the partitioner has it', () => {
    const uncut = newTask(3, 1)
    uncut.apply(recordedLog().slice(0, RECORDED_CUT), RECORDED_CUT)
    const states = repartitionTasks([recorded], 2, homeOf)
    const tasks = states.map((state, partition) => {
      const task = newTask(partition, 2)
      task.restore(state, 0)
      expect(task.watermarkMs).toBe(uncut.watermarkMs)
      expect(task.mark().value).toContain(`"darrer_batec_ms":${JSON.parse(String(uncut.mark().value)).darrer_batec_ms}`)
      // The first line is the job's own and may have grown since.
      expect(pipelineLines(task.snapshot())).toBe(pipelineLines(state))
      return task
    })
    const expected = panelRows(
      uncut,
      continuation(3, () => true),
    )
    const found = tasks.flatMap((task) =>
      panelRows(
        task,
        continuation(task.partition, (van) => homeOf(van) === task.partition),
      ),
    )
    expect(found.sort()).toEqual(expected.sort())
    expect(expected.length).toBeGreaterThan(50)
  })
})
