import { spawnSync } from 'node:child_process'
import { beforeAll, describe, expect, it } from 'vitest'
import { jsonLines, replayText } from './replay-in-process.ts'

interface Case {
  readonly name: string
  readonly words: readonly string[]
  readonly log: string
  readonly want: readonly unknown[]
}

const SEEDS = '1-60'
const hasPython = spawnSync('python3', ['-c', 'import zoneinfo; zoneinfo.ZoneInfo("Europe/Madrid")']).status === 0
if (!hasPython) console.warn('skipped: the oracle needs python3 (3.9 or newer) that knows Europe/Madrid (tzdata)')

// `pnpm prove:oracle` runs seeds 1-300 against the built command.
describe.skipIf(!hasPython)(`the core and the oracle, seeds ${SEEDS}`, () => {
  let cases: readonly Case[] = []

  beforeAll(() => {
    const listed = spawnSync('python3', ['test/oracle/check.py', '--seeds', SEEDS, '--list'], { encoding: 'utf8', maxBuffer: 1 << 28 })
    expect(listed.stderr).toBe('')
    cases = jsonLines(listed.stdout) as Case[]
  }, 120_000)

  const print = async (job: string) => {
    const chosen = cases.filter(({ words }) => words[0] === job)
    for (const { name, words, log, want } of chosen) {
      const { results } = await replayText(words, log)
      expect(jsonLines(results), name).toEqual(want)
    }
    return chosen
  }

  it('print the same results for positions', async () => {
    const chosen = await print('positions')
    expect(chosen.length).toBeGreaterThan(80)
    expect(chosen.filter(({ words }) => words.includes('--live-points')).length).toBeGreaterThan(5)
    expect(chosen.filter(({ words }) => words.includes('--from')).length).toBeGreaterThan(5)
    expect(chosen.filter(({ words }) => words.includes('--allowed-lateness')).length).toBeGreaterThan(5)
  })

  it('print the same results for stock', async () => {
    expect((await print('stock')).length).toBeGreaterThan(40)
  })
})
