import { afterEach, expect, it, vi } from 'vitest'
import { compared } from './batch-compare.ts'
import { isPublished, placeOf } from './panel-route.ts'
import { report, type SubjectLine } from './report.ts'

const line = (subject: string, exact: boolean): SubjectLine => ({
  ...{ bench: 'b', subject, seconds: [1, 2], cpu_seconds: [1, 1], records: 10, peak_rss_mb: 5, digest: '7', exact },
  more: { boot_seconds: [3, 4] },
})
const turn = (digest: string) => ({ rows: 10, digest, seconds: [2, 1], cpu_seconds: [2, 1], boot_seconds: 1, peak_rss_mb: 5 })

const log = vi.spyOn(console, 'log').mockImplementation(() => undefined)
vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
afterEach(() => log.mockClear())

it('ends with 1 when a result is not exact and no rule says why', () => {
  expect(report([line('ours', true), line('other', true)], true)).toBe(0)
  expect(report([line('ours', true), line('other', false)], true)).toBe(1)
  expect(report([line('ours', false)], false)).toBe(1)
  expect(report([line('ours', true), { ...line('other', false), differs: 'drops late points' }], true)).toBe(0)
})

it('gives a line of JSON a subject, with what else was measured beside the rest', () => {
  report([line('ours', true), { ...line('other', false), differs: 'why' }], true)
  const lines = log.mock.calls.map(([text]) => JSON.parse(String(text)) as Record<string, unknown>)
  const names = ['bench', 'subject', 'seconds', 'cpu_seconds', 'records', 'peak_rss_mb', 'digest', 'exact', 'boot_seconds']
  expect(lines.map((one) => Object.keys(one))).toEqual([names, names])
  expect(lines[0]?.boot_seconds).toEqual([3, 4])
})

it('a row of the table has as many cells as its head', () => {
  report([line('ours', true), line('other', true)], false)
  const cells = log.mock.calls
    .flatMap(([text]) => String(text).split('\n'))
    .filter((text) => text.startsWith('|'))
    .map((text) => text.split('|').length)
  expect(new Set(cells).size).toBe(1)
  expect(cells).toHaveLength(4)
})

it('rows of peers are held against ours in each turn, ours against those of peers', () => {
  const exactOf = (lines: Record<string, string[]>) =>
    compared(new Map(Object.entries(lines).map(([name, digests]) => [name, digests.map(turn)]))).map(({ exact }) => exact)
  expect(exactOf({ ours: ['a', 'a'], x: ['a', 'a'], y: ['a', 'a'] })).toEqual([true, true, true])
  expect(exactOf({ ours: ['a', 'a'], x: ['a', 'a'], y: ['a', 'b'] })).toEqual([true, true, false])
  expect(exactOf({ ours: ['a', 'b'], x: ['a', 'a'] })).toEqual([false, true])
  expect(exactOf({ ours: ['b', 'b'], x: ['a', 'a'] })).toEqual([false, false])
})

it('a van that is drawn where it was a second ago is elsewhere than published', () => {
  const at = (ms: number) => ({ lat: Number(placeOf(3, ms).lat), lon: Number(placeOf(3, ms).lon) })
  const nowMs = 1_789_380_000_000
  expect(isPublished('furgoneta-3', { eventMs: nowMs, ...at(nowMs) })).toBe(true)
  expect(isPublished('furgoneta-3', { eventMs: nowMs, ...at(nowMs - 1_000) })).toBe(false)
  expect(isPublished('furgoneta-4', { eventMs: nowMs, ...at(nowMs) })).toBe(false)
})
