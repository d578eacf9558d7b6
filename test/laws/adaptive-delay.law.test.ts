// A delay that adapts is in the log: whoever replays it sees the same delays, and gets the same results.
import { ALL_TIME, DEFAULT_POSITIONS_SETTINGS, MQTT_TOPICS, positionTopic } from '@km0/contracts'
import { createPositionsHost } from '@km0/pipelines'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { build, delivery, emptyLog, RecordingSender } from '../../apps/bridge/src/pipeline.testbench.ts'
import { feed, type LogRecord, MINUTE, parsed, rowsOf, runBatch, runLive, SECOND, T0 } from './driver.ts'

const EVERY_MS = 20 * SECOND
const VANS = 16
const ADAPTIVE = {
  ...{ KM0_DELAY_ADAPTIVE: 'on', KM0_DELAY_TARGET_SHARE: '0.01', KM0_DELAY_MIN_MS: '15000', KM0_DELAY_MAX_MS: '120000' },
  ...{ KM0_DELAY_EVERY_MS: String(2 * MINUTE), KM0_BRIDGE_SETTLE_MS: '0', KM0_BRIDGE_BACKLOG_LIMIT_MS: '0' },
}

/** What a real bridge writes into one partition in `minutes`, while some points come so late, a stretch of the time after the other. */
async function bridgeLog(latenessesS: readonly number[], minutes: number, environment: Record<string, string>): Promise<LogRecord[]> {
  let nowMs = T0
  const sender = new RecordingSender()
  const { pipeline } = build(sender, environment, () => nowMs)
  pipeline.know(new Map([...emptyLog()].slice(0, 1)))
  pipeline.setConnected(T0)
  const rounds = (minutes * MINUTE) / EVERY_MS
  for (let round = 0; round < rounds; round += 1) {
    nowMs = T0 + round * EVERY_MS
    const lateS = latenessesS[Math.floor((round / rounds) * latenessesS.length)] ?? 0
    for (let van = 0; van < VANS; van += 1) {
      // Three in a hundred are so late, the others a second.
      const eventMs = nowMs - ((van + round) % 33 === 0 ? lateS * SECOND : SECOND)
      pipeline.take(
        delivery(positionTopic(`v${van}`), { repartidor: `v${van}`, lat: 41.9 + round / 1e5, lon: 2.8 + van / 1e4, data_ms: eventMs }),
      )
    }
    pipeline.adaptDelay()
    pipeline.beatWhenDue()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await pipeline.stop(60_000)
  return sender.stored
    .filter(({ topic }) => topic !== MQTT_TOPICS.probe)
    .map(({ value, timestampMs }, offset) => ({ partition: 0, offset, timestampMs: timestampMs ?? 0, text: value?.toString() ?? null }))
}

const delaysOf = (log: readonly LogRecord[]) =>
  log.flatMap(({ text, offset }) =>
    text?.includes('"parametres"') ? [[offset, (JSON.parse(text) as { retard_ms: number }).retard_ms]] : [],
  )

/** The live job, stopped and gone on with from its snapshot before each of these records. */
function runCut(log: readonly LogRecord[], cuts: readonly number[]) {
  let host = createPositionsHost(DEFAULT_POSITIONS_SETTINGS)
  const emitted = []
  for (const record of log) {
    if (cuts.includes(record.offset)) {
      emitted.push(...host.drain())
      const lines = [...host.snapshotLines()]
      host = createPositionsHost(DEFAULT_POSITIONS_SETTINGS)
      for (const _step of host.restoreLines(lines));
    }
    feed(host, record)
  }
  return [...emitted, ...host.drain()]
}

describe('a delay that adapts', () => {
  it('moves through settings records, up and down, and a replay that is cut anywhere gives the same bytes', async () => {
    const log = await bridgeLog([70, 70, 1, 1, 1, 1, 1], 245, ADAPTIVE)
    const delays = delaysOf(log).map(([, ms]) => ms ?? 0)
    expect(delays[0]).toBe(45_000)
    expect(Math.max(...delays)).toBe(70_000)
    expect(delays.at(-1)).toBeLessThan(45_000)
    expect(delays.length).toBeLessThan(12)
    const whole = runLive(log)
    const near = delaysOf(log).flatMap(([offset = 0]) => [offset, offset + 1])
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...near), fc.nat(log.length - 1)), { maxLength: 6 }), (cuts) => {
        expect(runCut(log, cuts)).toEqual(whole)
      }),
      { numRuns: 4 },
    )
  }, 60_000)

  it('without late points the live rows are those of the batch', async () => {
    const log = await bridgeLog([14], 80, ADAPTIVE)
    expect(delaysOf(log).length).toBeGreaterThan(1)
    const end = log.at(-1)?.timestampMs ?? T0
    const closed = [...log, { partition: 0, offset: log.length, timestampMs: end + 60 * MINUTE, text: JSON.stringify({ tipus: 'batec', data_ms: end + 60 * MINUTE }) }] // biome-ignore format: one record
    const sorted = (rows: { key: string }[]) => rows.sort((a, b) => (a.key < b.key ? -1 : 1))
    for (const prefix of ['distancia|', 'sessio|'])
      expect(sorted(rowsOf(runLive(closed), 'panell', prefix))).toEqual(sorted(parsed(runBatch(closed, ALL_TIME), prefix)))
  }, 60_000)

  it('is off by default: the same vans leave one settings record', async () => {
    const { KM0_DELAY_ADAPTIVE: _, ...rest } = ADAPTIVE
    expect(delaysOf(await bridgeLog([70], 60, rest)).map(([, ms]) => ms)).toEqual([45_000])
  })

  it('is gone on with after a restart, where the log has one within the bounds', async () => {
    const settingsOf = async (delayMs: number) => {
      const sender = new RecordingSender()
      const { pipeline } = build(sender, ADAPTIVE, () => T0)
      const known = { settings: { delayMs, allowedLatenessMs: 0 }, newestMs: T0, playing: false }
      pipeline.know(new Map([[0, known]]))
      await new Promise((resolve) => setImmediate(resolve))
      await pipeline.stop(1_000)
      return [pipeline.state.delayMs, sender.stored.length]
    }
    expect(await settingsOf(70_000)).toEqual([70_000, 0])
    expect(await settingsOf(500_000)).toEqual([45_000, 1])
  })
})
