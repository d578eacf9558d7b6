import type { LedgerStation, LedgerStep } from '@km0/contracts/ledger'
import type { LedgerRunView } from '@km0/contracts/ledger-panel'
import { describe, expect, it } from 'vitest'
import { localText, openRuns, prepareStations, prepareSteps, spanOf } from './prepare-ledger.ts'

const station = (name: LedgerStation['name'], count: number | null): LedgerStation => ({ name, count, certainty: 'exact', parts: [] })
const step = (to: LedgerStep['to'], unnamed: number): LedgerStep => ({
  from: 'classificats',
  to,
  fromCount: 1,
  toCount: 1 + unnamed,
  lines: [],
  unnamed,
})
const run = (id: number, state: LedgerRunView['state']) => ({ id, state }) as LedgerRunView

describe('the ledger on the panel', () => {
  it('gives stations bars of the largest, and none to what is unknown', () => {
    const rows = prepareStations({ stations: [station('publicats', null), station('confirmats', 200), station('rebutjats', 50)] })
    expect(rows.map(({ share }) => share)).toEqual([null, 1, 0.25])
    expect(prepareStations({ stations: [station('confirmats', 0)] })[0]?.share).toBe(0)
  })

  it('leaves out parts that are none', () => {
    const parts = [
      { name: 'acceptats', count: 3 },
      { name: 'tard', count: 0 },
    ]
    expect(prepareStations({ stations: [{ ...station('classificats', 3), parts }] })[0]?.parts).toEqual([parts[0]])
  })

  it('puts what does not balance first', () => {
    const steps = [step('rebutjats', 0), step('tardans', -2), step('llac', 0), step('resultats', 1)]
    expect(prepareSteps({ steps }).map(({ to }) => to)).toEqual(['tardans', 'resultats', 'rebutjats', 'llac'])
  })

  it('lists open runs in the order in which they are done', () => {
    const runs = [run(4, 'waiting'), run(3, 'running'), run(2, 'done'), run(1, 'cancelled')]
    expect(openRuns(runs).map(({ id }) => id)).toEqual([3, 4])
  })

  it('takes presets up to now, and times of one’s own', () => {
    const nowMs = Date.UTC(2026, 2, 29, 12)
    expect(spanOf('six', nowMs, '', '')).toEqual({ fromMs: nowMs - 6 * 3_600_000, toMs: nowMs })
    const [from, to] = [localText(nowMs - 60_000), localText(nowMs)]
    expect(spanOf('own', nowMs, from, to)).toEqual({ fromMs: nowMs - 60_000, toMs: nowMs })
    expect(spanOf('own', nowMs, to, from)).toBeNull()
    expect(spanOf('own', nowMs, '', to)).toBeNull()
  })
})
