import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { changeOf, type Faults, ledgerOf, NO_FAULTS, stepOf } from './ledger-world.ts'

const with_ = (faults: Partial<Faults>) => ledgerOf({ ...NO_FAULTS, ...faults })
const some = fc.integer({ min: 1, max: 9 })
const always = (check: (count: number) => void) => fc.assert(fc.property(some, check), { numRuns: 5 })

/** What each fault must lead to: a named change, or something unnamed, in one step; every other step balances. */
type Named = {
  readonly fault: keyof Faults
  readonly step: readonly [string, string]
  readonly cause: Parameters<typeof changeOf>[3]
  readonly sign: 1 | -1
}
type Unnamed = { readonly fault: keyof Faults; readonly step: readonly [string, string]; readonly sign: 1 | -1 }

const NAMED: readonly Named[] = [
  { fault: 'brokerLoses', step: ['publicats', 'confirmats'], cause: 'lostAtBroker', sign: -1 },
  { fault: 'bridgeDoubles', step: ['publicats', 'confirmats'], cause: 'redelivered', sign: 1 },
  { fault: 'bridgeDoubles', step: ['rebuts', 'confirmats'], cause: 'redelivered', sign: 1 },
  { fault: 'crashDoubles', step: ['publicats', 'confirmats'], cause: 'redelivered', sign: 1 },
  { fault: 'twins', step: ['rebuts', 'confirmats'], cause: 'merged', sign: -1 },
  { fault: 'onTheWay', step: ['publicats', 'confirmats'], cause: 'onTheWay', sign: -1 },
]

const UNNAMED: readonly Unnamed[] = [
  { fault: 'bridgeLoses', step: ['rebuts', 'confirmats'], sign: -1 },
  { fault: 'aliens', step: ['rebuts', 'confirmats'], sign: 1 },
  { fault: 'jobLosesLetters', step: ['classificats', 'rebutjats'], sign: -1 },
  { fault: 'jobLosesLate', step: ['classificats', 'tardans'], sign: -1 },
  { fault: 'jobLosesResults', step: ['classificats', 'resultats'], sign: -1 },
  { fault: 'jobInventsResults', step: ['classificats', 'resultats'], sign: 1 },
  { fault: 'servingLoses', step: ['resultats', 'desats'], sign: -1 },
  { fault: 'lakeLoses', step: ['classificats', 'llac'], sign: -1 },
]

describe('the ledger', () => {
  it('balances when nothing is lost, and every step is right by itself', () => {
    const ledger = with_({})
    expect(ledger.steps.filter(({ unnamed }) => unnamed !== 0)).toEqual([])
    expect(ledger).toMatchObject({ balanced: true, unnamed: 0, lost: [] })
    const judged = Object.fromEntries(
      ledger.stations.find(({ name }) => name === 'classificats')?.parts.map(({ name, count }) => [name, count]) ?? [],
    )
    for (const part of ['acceptats', 'tard', 'parcial', 'invalid', 'batecs', 'parametres']) expect(judged[part], part).toBeGreaterThan(0)
    expect(ledger.stations.find(({ name }) => name === 'resultats')?.count).toBeGreaterThan(20)
  })

  it.each(NAMED)('names $fault in $step: $cause', ({ fault, step: [from, to], cause, sign }) => {
    always((count) => {
      const ledger = with_({ [fault]: count })
      expect(ledger.steps.filter(({ unnamed }) => unnamed !== 0)).toEqual([])
      expect(changeOf(ledger, from, to, cause)).toBe(sign * count)
    })
  })

  it.each(UNNAMED)('leaves $fault unnamed, in $step alone', ({ fault, step: [from, to], sign }) => {
    always((count) => {
      const ledger = with_({ [fault]: count })
      expect(ledger.balanced).toBe(false)
      expect(ledger.unnamed).toBe(count)
      expect(stepOf(ledger, from, to).unnamed).toBe(sign * count)
    })
  })

  it('says which vans the broker has lost messages of, with their times and digests', () => {
    const ledger = with_({ brokerLoses: 6 })
    expect(ledger.lost.reduce((sum, { count }) => sum + count, 0)).toBe(6)
    expect(ledger.lost.map(({ van }) => van).sort()).toEqual(['van-0', 'van-1', 'van-2', 'van-3'])
    for (const { firstEventMs, lastEventMs, sha256, count } of ledger.lost) {
      expect(lastEventMs).toBeGreaterThanOrEqual(firstEventMs)
      expect(sha256).toHaveLength(count)
    }
  })

  it('takes a dead letter that was written again for one', () => {
    always((count) => {
      expect(with_({ jobDoublesLetters: count }).balanced).toBe(true)
    })
  })

  it('calls pending what the job has not come to, and nothing else', () => {
    always((count) => {
      const ledger = with_({ jobBehind: count * 20 })
      expect(ledger.steps.filter(({ unnamed }) => unnamed !== 0)).toEqual([])
    })
    const behind = with_({ jobBehind: 100 })
    expect(changeOf(behind, 'classificats', 'resultats', 'pending')).toBeLessThan(0)
  })

  it('is right by itself in each step, whatever goes wrong at once', () => {
    const faults = fc.record(
      Object.fromEntries(Object.keys(NO_FAULTS).map((name) => [name, fc.integer({ min: 0, max: 4 })])),
    ) as fc.Arbitrary<Faults>
    fc.assert(
      fc.property(faults, (some) => {
        for (const { fromCount, toCount, lines, unnamed } of ledgerOf(some).steps) {
          expect(fromCount + lines.reduce((sum, { change }) => sum + change, 0) + unnamed).toBe(toCount)
        }
      }),
      { numRuns: 20 },
    )
  })
})
