import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { runBundle } from '../conformance/bundle-host.ts'
import { judge } from '../conformance/judge.ts'
import { planOf } from '../conformance/logs.ts'

const hasPython = spawnSync('python3', ['-c', 'from zoneinfo import ZoneInfo; ZoneInfo("Europe/Madrid")']).status === 0
if (!hasPython) console.warn('skipped: the conformance suite in short, as there is no python3 with time zones on this machine')

// `pnpm engine:check` in short: the same logs and the same judge for the functions of the bundle, without Kafka or another engine.
describe.skipIf(!hasPython)('the core for foreign engines', () => {
  it('gives what the oracle and a replay give, restored every so many records', () => {
    const plan = planOf({ logs: 9, seeds: 2, day: false, nowMs: 1_800_000_000_000 })
    const rows = runBundle(plan)
    for (const { name, difference } of judge(plan, rows)) expect(difference, name).toBeNull()
    expect(plan.cases.length).toBeGreaterThan(10)
    expect(plan.cases.at(-1)?.want.length).toBeGreaterThan(200)
    expect(plan.stockWant.length).toBeGreaterThan(20)
    // The judge does see a row that is missing.
    expect(judge(plan, rows.slice(0, -40)).some(({ difference }) => difference !== null)).toBe(true)
  })
})
