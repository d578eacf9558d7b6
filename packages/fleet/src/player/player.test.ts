import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { distanceM } from '../geography/earth.ts'
import { moveToGirona } from './girona.ts'
import { parseLine, type RecordedFix, readRecording } from './recording.ts'
import { replay, shiftToBegin, shiftToEnd } from './replay.ts'

const capmetro = join(import.meta.dirname, '../../../../../shared/real/capmetro-140vans-2017-03-16.jsonl')
const arrivals = join(import.meta.dirname, '../../../../../shared/real/hsl-real-arrival-11msgs.jsonl')
const hasReal = existsSync(capmetro)
if (!hasReal) console.log('skipped: recorded days are not beside the repository (../shared/real)')
const folder = mkdtempSync(join(tmpdir(), 'km0-player-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function recordingOf(lines: string[]) {
  const path = join(folder, 'day.jsonl')
  writeFileSync(path, lines.join('\n'))
  return readRecording(path)
}

describe('a line', () => {
  it('is a fix; the arrival is the event when it is not given', () => {
    expect(parseLine('{"van":"v1","lat":41.9,"lon":2.8,"event_ms":1489640400000,"spd_ms":3}')).toEqual({
      van: 'v1',
      lat: 41.9,
      lon: 2.8,
      eventMs: 1_489_640_400_000,
      arrivalMs: 1_489_640_400_000,
    })
    expect(parseLine('{"van":"v1","lat":0,"lon":0,"event_ms":5,"arrival_ms":9}')).toMatchObject({ lat: 0, lon: 0, arrivalMs: 9 })
  })

  it.each([
    ['{"van":"v1"', 'is not JSON'],
    ['[]', 'expected object'],
    ['{"van":"","lat":1,"lon":1,"event_ms":1}', 'van'],
    ['{"van":"v\\ud800","lat":1,"lon":1,"event_ms":1}', 'surrogate'],
    ['{"van":"v","lat":"1","lon":1,"event_ms":1}', 'lat'],
    ['{"van":"v","lat":1,"lon":1,"event_ms":1.5}', 'event_ms'],
    ['{"van":"v","lat":1,"lon":1,"event_ms":1e17}', 'event_ms'],
    ['{"van":"v","lat":1,"lon":1,"event_ms":1,"arrival_ms":null}', 'arrival_ms'],
  ])('%s is bad, with a reason', (line, reason) => {
    expect(parseLine(line)).toContain(reason)
  })
})

describe('a recording', () => {
  it('is put in order of arrival; bad lines are counted and numbered, empty ones are nothing', async () => {
    const row = (van: string, event: number, arrival: number) =>
      JSON.stringify({ van, lat: 1, lon: 2, event_ms: event, arrival_ms: arrival })
    const recording = await recordingOf([row('a', 10, 30), '', '{', row('b', 20, 25), row('c', 1, 25), '{"van":3}'])
    expect(recording.fixes.map((fix) => fix.van)).toEqual(['b', 'c', 'a'])
    expect(recording.badCount).toBe(2)
    expect(recording.badLines.map((bad) => bad.line)).toEqual([3, 6])
  })

  it('moves as a whole: to begin at an instant, or to end in the minute before one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 86_400_000 }), { minLength: 1, maxLength: 50 }),
        fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 }),
        (times, nowMs) => {
          const fixes: RecordedFix[] = times
            .sort((a, b) => a - b)
            .map((ms) => ({ van: 'v', lat: 1, lon: 1, eventMs: 1_489_640_400_000 + ms - 700, arrivalMs: 1_489_640_400_000 + ms }))
          const begun = [...replay(fixes, shiftToBegin(fixes, nowMs))]
          expect(begun[0]!.arrivalMs).toBe(nowMs)
          const shiftMs = shiftToEnd(fixes, nowMs)
          const ended = [...replay(fixes, shiftMs)]
          expect(shiftMs % 60_000).toBe(0)
          expect(ended.at(-1)!.arrivalMs).toBeLessThanOrEqual(nowMs)
          expect(ended.at(-1)!.arrivalMs).toBeGreaterThan(nowMs - 60_000)
          expect(ended.map((message) => message.arrivalMs - message.eventMs!)).toEqual(fixes.map(() => 700))
        },
      ),
    )
  })

  it.skipIf(!hasReal)('the real day has 24,996 fixes of 140 vehicles in order, two of them at 0,0', async () => {
    const { fixes, badCount } = await readRecording(capmetro)
    expect(fixes.length).toBe(24_996)
    expect(badCount).toBe(0)
    expect(new Set(fixes.map((fix) => fix.van)).size).toBe(140)
    expect(fixes.filter((fix) => fix.lat === 0 && fix.lon === 0).length).toBe(2)
    expect(fixes.every((fix, at) => at === 0 || fix.arrivalMs >= fixes[at - 1]!.arrivalMs)).toBe(true)
    const messages = [...replay(fixes, shiftToEnd(fixes, 1_789_380_012_345))]
    expect(messages.length).toBe(24_996)
    expect(messages.at(-1)!.arrivalMs).toBeLessThanOrEqual(1_789_380_012_345)
  })

  it.skipIf(!hasReal)('the real arrivals are kept: late ones come late', async () => {
    const { fixes } = await readRecording(arrivals)
    expect(fixes.length).toBe(11)
    expect(Math.max(...fixes.map((fix) => fix.arrivalMs - fix.eventMs))).toBeGreaterThan(129_000)
  })
})

describe('onto Girona', () => {
  it.skipIf(!hasReal)('keeps the steps of each vehicle within 3 in 10,000 and leaves 0,0 alone', async () => {
    const { fixes } = await readRecording(capmetro)
    const moved = moveToGirona(fixes)
    expect(moved.filter((fix) => fix.lat === 0 && fix.lon === 0).length).toBe(2)
    const newest = new Map<string, number>()
    let worst = 0
    for (const [at, fix] of fixes.entries()) {
      const before = newest.get(fix.van)
      newest.set(fix.van, at)
      if (before === undefined || fix.lat === 0 || fixes[before]!.lat === 0) continue
      expect(Math.abs(moved[at]!.lat - 41.98)).toBeLessThan(0.5)
      const stepM = distanceM(fixes[before]!, fix)
      // Six decimals round each place by up to 0.08 m.
      worst = Math.max(worst, (Math.abs(stepM - distanceM(moved[before]!, moved[at]!)) - 0.25) / stepM)
    }
    expect(worst).toBeLessThan(3e-4)
  })
})
