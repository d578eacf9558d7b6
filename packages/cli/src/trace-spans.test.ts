import { expect, it } from 'vitest'
import { collectSpans, spanTable } from './trace-spans.ts'

const TRACE = 'a'.repeat(32)
const span = (name: string, startMs: number, endMs: number, traceId = TRACE) => ({ traceId, program: 'p', name, startMs, endMs, links: [] })

it('a table of spans says what took how long, what lay between, and the whole', () => {
  const table = spanTable([span('store', 1_050, 1_060), span('bridge', 1_000, 1_010.5), span('batch', 1_050, 1_061, 'b')], 1_000, TRACE)
  expect(table.split('\n').map((line) => line.trim().replaceAll(/ +/g, ' '))).toEqual([
    'begins at takes',
    '0 ms 10.5 ms p bridge',
    '11 ms 39.5 ms (on the way)',
    '50 ms 10.0 ms p store',
    '50 ms 11.0 ms p batch (linked)',
    '60 ms in all, 40 ms of it on the way from one program to the next',
    '',
  ])
})

it('what is no request of OTLP in JSON has no spans', () => {
  expect(collectSpans('{')).toEqual([])
  expect(collectSpans('{"resourceSpans":[{}]}')).toEqual([])
})
