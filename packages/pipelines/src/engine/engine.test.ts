import { readdirSync, readFileSync } from 'node:fs'
import { createContext, runInContext } from 'node:vm'
import { TOPICS } from '@km0/contracts'
import { build } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import type * as Engine from './index.ts'

const FOLDER = 'test/oracle/vectors'

interface Line {
  readonly partition: number
  readonly offset: number
  readonly timestamp: number
  readonly value: string | null
}
interface Row {
  readonly topic: string
  readonly key: string | null
  readonly value: unknown
  readonly at: { readonly partition: number; readonly offset: number }
}

const lines = <T>(file: string): T[] =>
  readFileSync(`${FOLDER}/${file}`, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T)

const OUTPUT: Readonly<Record<string, string>> = {
  'repartiment.panell': 'panell',
  'repartiment.tardans': 'tardans',
  'repartiment.rebutjats': 'rebutjats',
  'repartiment.viu': 'viu',
}

/** Vectors of positions, live: what a foreign engine has to give as well. */
const vectors = readdirSync(FOLDER)
  .filter((file) => /\.positions_live[^.]*\.out\.ndjson$/.test(file))
  .map((file) => {
    const [name = '', words = ''] = file.replace('.out.ndjson', '').split('.')
    const given = words.split('_')
    const after = (word: string) => (given.includes(word) ? Number(given[given.indexOf(word) + 1]) : undefined)
    const settings = {
      ...(after('--delay') === undefined ? {} : { delayMs: after('--delay') }),
      ...(after('--allowed-lateness') === undefined ? {} : { allowedLatenessMs: after('--allowed-lateness') }),
      livePoints: given.includes('--live-points'),
    }
    return {
      file,
      input: `${name}.in.ndjson`,
      settings: JSON.stringify(settings),
      known: given.every((word) => !/^--(explain)/.test(word)),
    }
  })

describe('the bundle for foreign engines', () => {
  let km0: typeof Engine

  beforeAll(async () => {
    const { outputFiles, metafile } = await build({
      entryPoints: ['packages/pipelines/src/engine/index.ts'],
      bundle: true,
      write: false,
      metafile: true,
      format: 'iife',
      globalName: 'km0',
      platform: 'neutral',
      target: 'es2022',
      mainFields: ['module', 'main'],
      conditions: ['import'],
    })
    expect(Object.values(metafile.outputs)[0]?.imports).toEqual([])
    // A context that has the language and nothing else: no console, no TextDecoder, no timers.
    const context = createContext(Object.create(null))
    runInContext(outputFiles[0]!.text, context)
    km0 = runInContext('km0', context) as typeof Engine
  })

  const bytes = (text: string | null) => (text === null ? 0 : Buffer.byteLength(text))

  /** Applies the log, each partition its own engine, taken down and restored after each `restoreEvery` records. */
  function runPartitions(log: readonly Line[], settings: string, restoreEvery: number): Row[] {
    const rows: Row[] = []
    let at = { partition: 0, offset: 0 }
    const emit: Parameters<typeof km0.createPositions>[4] = (topic, _partition, key, value, _timestampMs, headers) => {
      const output = OUTPUT[topic]
      if (output === undefined) return
      expect(headers.split(';').slice(0, 3)).toEqual([`epoca=7`, `particio_origen=${at.partition}`, `offset_origen=${at.offset}`])
      rows.push({ topic: output, key, value: JSON.parse(value), at })
    }
    const engines = new Map<number, ReturnType<typeof km0.createPositions>>()
    const create = (partition: number) => km0.createPositions(partition, 7, settings, null, emit)
    log.forEach(({ partition, offset, timestamp, value }, index) => {
      let engine = engines.get(partition) ?? create(partition)
      if (restoreEvery > 0 && index % restoreEvery === 0) {
        const restored = create(partition)
        restored.restore(engine.snapshot(), engine.nextOffset)
        engine = restored
      }
      engines.set(partition, engine)
      at = { partition, offset }
      engine.onRecord(offset, timestamp, value, bytes(value), true)
      engine.flush()
    })
    return rows
  }

  /** Applies the log as an engine that is keyed by van does. */
  function runVans(log: readonly Line[], settings: string, restoreEvery: number): Row[] {
    const rows: Row[] = []
    const emit: Parameters<typeof km0.createVan>[3] = (topic, _partition, key, value) => {
      const output = OUTPUT[topic]
      if (output !== undefined) rows.push({ topic: output, key, value: JSON.parse(value), at: { partition: 0, offset: 0 } })
    }
    const stamps = new Map<number, ReturnType<typeof km0.createStamp>>()
    const vans = new Map<string, { van: ReturnType<typeof km0.createVan>; partition: number }>()
    log.forEach(({ partition, offset, timestamp, value }, index) => {
      let stamp = stamps.get(partition) ?? km0.createStamp(partition, 7, settings, null, emit)
      if (restoreEvery > 0 && index % restoreEvery === 0) {
        const restored = km0.createStamp(partition, 7, settings, null, emit)
        restored.restore(stamp.snapshot())
        stamp = restored
      }
      stamps.set(partition, stamp)
      stamp.onRecord(offset, timestamp, value, bytes(value), true)
      if (stamp.van === null) return
      const key = `${partition}|${stamp.van}`
      let van = vans.get(key)?.van ?? km0.createVan(partition, 7, settings, emit)
      if (restoreEvery > 0 && index % restoreEvery === 1 && !van.isGone) {
        const restored = km0.createVan(partition, 7, settings, emit)
        restored.restore(van.snapshot())
        van = restored
      }
      vans.set(key, { van, partition })
      van.onRecord(offset, timestamp, value, bytes(value), true, stamp.watermarkBeforeMs, stamp.finalBeforeMs)
    })
    for (const { van, partition } of vans.values()) {
      const stamp = stamps.get(partition)
      if (stamp !== undefined) van.advance(0, 0, stamp.watermarkMs, stamp.finalMs)
    }
    return rows
  }

  /** Rows of each output and key, in their order. */
  const byKey = (rows: readonly Row[]) => {
    const sorted = new Map<string, unknown[]>()
    for (const { topic, key, value } of rows) {
      const name = `${topic} ${key}`
      sorted.set(name, [...(sorted.get(name) ?? []), value])
    }
    return new Map([...sorted].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  it('has vectors to judge it', () => expect(vectors.length).toBeGreaterThanOrEqual(8))

  it.each(vectors)('$file: partition by partition', ({ file, input, settings }) => {
    const log = lines<Line>(input)
    // Live points wait for the flush, so they come after what their record closes.
    const parts = (rows: readonly Row[]) => [rows.filter(({ topic }) => topic !== 'viu'), rows.filter(({ topic }) => topic === 'viu')]
    const want = parts(lines<Row>(file))
    expect(parts(runPartitions(log, settings, 0))).toEqual(want)
    expect(parts(runPartitions(log, settings, 3))).toEqual(want)
  })

  it.each(vectors)('$file: van by van', ({ file, input, settings }) => {
    const log = lines<Line>(input)
    const want = byKey(lines<Row>(file))
    expect(byKey(runVans(log, settings, 0))).toEqual(want)
    expect(byKey(runVans(log, settings, 3))).toEqual(want)
  })

  it('tells the same marks and outages partition by partition and van by van, restored in the middle', () => {
    const told = (
      create: (emit: Parameters<typeof km0.createStamp>[4]) => {
        onRecord(offset: number, timestampMs: number, text: string, byteLength: number, validUtf8: boolean): number
        mark(nowMs: number): void
        snapshot(): string
        restore(snapshot: string, nextOffset: number): void
      },
    ) => {
      const rows: string[] = []
      const emit: Parameters<typeof km0.createStamp>[4] = (topic, partition, key, value, timestampMs, headers) => {
        if (topic === TOPICS.marks.name) rows.push([partition, key, value, timestampMs, headers].join(' '))
      }
      let engine = create(emit)
      engine.mark(0)
      for (const [offset, minute] of [0, 1, 1, 9, 8, 10, 30].entries()) {
        const timestampMs = 1_789_380_000_000 + minute * 60_000
        const text =
          minute === 8
            ? 'no JSON'
            : JSON.stringify({ tipus: 'batec', data_ms: timestampMs, pont: minute < 10 ? 'a' : 'b', retingut: 'espera-kafka' })
        engine.onRecord(offset, timestampMs, text, text.length, true)
        if (offset % 2 === 0) engine.mark(offset)
        if (offset !== 3) continue
        const restored = create(emit)
        restored.restore(engine.snapshot(), offset + 1)
        engine = restored
      }
      engine.mark(99)
      return rows
    }
    const stamps = told((emit) => km0.createStamp(3, 7, null, 60_000, emit))
    expect(stamps).toEqual(told((emit) => km0.createPositions(3, 7, null, 60_000, emit)))
    expect(stamps.filter((row) => row.includes('"tall"'))).toHaveLength(2)
    expect(stamps).toHaveLength(2 + 5)
  })

  it('applies again what is in the log, and says only what may have waited', () => {
    const log = lines<Line>(vectors.find(({ settings }) => settings.includes('true'))!.input)
    const topics: string[] = []
    const engine = km0.createPositions(0, 1, null, null, (topic) => void topics.push(topic))
    for (const { offset, timestamp, value } of log) engine.reapply(offset, timestamp, value, bytes(value), true)
    expect(topics).toEqual([])
    engine.flush()
    expect(new Set(topics)).toEqual(new Set(['repartiment.viu']))
  })
})
