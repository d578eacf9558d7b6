import { describe, expect, it } from 'vitest'
import { startWaves, stopStages } from './order.ts'
import { PART_NAMES, type PartsOptions, parseEngine, partsTable } from './parts.ts'

const options: PartsOptions = {
  root: '/repository',
  dataDir: '/repository/.km0/v1',
  addresses: { kafkaBrokers: 'k:1', databaseUrl: 'postgres://d', redisUrl: 'redis://r', mqttUrl: 'mqtt://m' },
  fleet: 'demo',
  panelPort: 3000,
  retentionDays: { results: 6, tracks: 2, lake: 4 },
  streamHeapMib: 600,
  engine: 'node',
  portOf: (name) => 9000 + PART_NAMES.indexOf(name as (typeof PART_NAMES)[number]),
}

describe('the table of parts', () => {
  it('has a port of its own for each part', () => {
    const parts = partsTable(options)
    expect(new Set(parts.map((part) => part.port)).size).toBe(parts.length)
    expect(parts.map((part) => part.name).sort()).toEqual([...PART_NAMES].sort())
  })

  it('starts the fleet last and stops it first, then bridge, stream, panel, batch', () => {
    const parts = partsTable(options)
    expect(
      startWaves(parts)
        .at(-1)
        ?.map((part) => part.name),
    ).toEqual(['fleet', 'stock'])
    expect(stopStages(parts).map((stage) => stage.map((part) => part.name))).toEqual([
      ['fleet', 'stock'],
      ['bridge'],
      ['stream-positions', 'stream-stock-shuffle', 'stream-stock-windows', 'stream-serving', 'stream-lake'],
      ['dashboard'],
      ['batch'],
    ])
  })

  it('has time to stop everything one after the other', () => {
    const stages = stopStages(partsTable(options))
    const longestMs = stages.reduce((sum, stage) => sum + Math.max(...stage.map((part) => part.stopTimeoutMs)), 0)
    expect(longestMs).toBeLessThan(15_000)
  })

  it('gives every part the services and the clock', () => {
    for (const part of partsTable(options)) {
      expect(part.environment).toMatchObject({
        KAFKA_BROKERS: 'k:1',
        DATABASE_URL: 'postgres://d',
        REDIS_URL: 'redis://r',
        MQTT_URL: 'mqtt://m',
      })
      expect(part.environment.KM0_CLOCK).toBe('play')
    }
  })

  it('has another engine in place of the roles that it hosts', () => {
    const of = (engine: PartsOptions['engine']) => partsTable({ ...options, engine })
    for (const engine of ['kafka-streams', 'flink'] as const) {
      expect(of(engine).map(({ name }) => name)).not.toContain('stream-stock-windows')
      const host = of(engine).find(({ name }) => name === 'stream-positions')
      expect(host?.args.slice(-5)).toEqual([
        '/repository/infra/dist/engine.js',
        'run',
        engine,
        '--folder',
        `/repository/.km0/v1/engine-${engine}`,
      ])
    }
  })

  it('takes the engine from KM0_ENGINE, and none that there is not', () => {
    expect([parseEngine(undefined), parseEngine(''), parseEngine('flink')]).toEqual(['node', 'node', 'flink'])
    expect(() => parseEngine('spark')).toThrow('KM0_ENGINE is one of node, kafka-streams, flink, not spark')
  })

  it('bounds the heap of the roles of the stream, old and young, and of nothing else', () => {
    const isBounded = ({ args }: { readonly args: readonly string[] }) =>
      args.includes('--max-old-space-size=600') && args.includes('--max-semi-space-size=32')
    const bounded = partsTable(options).filter(isBounded)
    expect(bounded.map((part) => part.name).sort()).toEqual(PART_NAMES.filter((name) => name.startsWith('stream-')).sort())
  })

  it('tells the bridge what the embedded broker keeps for it, and nothing of another broker', () => {
    const bridgeOf = (more: Partial<PartsOptions>) =>
      partsTable({ ...options, ...more }).find((part) => part.name === 'bridge')?.environment
    expect(bridgeOf({ brokerQueue: { messages: 10, bytes: 2_000 } })).toMatchObject({
      KM0_BROKER_QUEUE_MESSAGES: '10',
      KM0_BROKER_QUEUE_BYTES: '2000',
    })
    expect(bridgeOf({})).not.toHaveProperty('KM0_BROKER_QUEUE_MESSAGES')
  })

  it('tells the panel where the others answer, and the lake how long it keeps records', () => {
    const parts = partsTable(options)
    const of = (name: string) => parts.find((part) => part.name === name)?.environment
    const others = parts.filter(({ name }) => !['dashboard', 'fleet', 'stock'].includes(name))
    expect(of('dashboard')?.KM0_PROGRAMS?.split(',')).toEqual(others.map(({ name, healthUrl }) => `${name}=${healthUrl}`))
    expect(of('stream-lake')?.KM0_LAKE_RETENTION_DAYS).toBe('4')
  })

  it("runs on the machine's clock without a fleet", () => {
    const parts = partsTable({ ...options, fleet: 'none' })
    expect(parts.map((part) => part.name)).not.toContain('fleet')
    expect(parts[0]?.environment.KM0_CLOCK).toBe('machine')
  })

  it('lets the player of a file end', () => {
    const fleet = partsTable({ ...options, fleet: { play: '/day.jsonl', speed: '60' } }).find((part) => part.name === 'fleet')
    expect(fleet?.mayEnd).toBe(true)
    expect(fleet?.args.slice(2, 6)).toEqual(['--play', '/day.jsonl', '--speed', '60'])
  })
})
