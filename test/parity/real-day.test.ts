import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type LogRecord, LogWriter, lastRows, parsed, rowsOf, runBatch, runLive } from '../laws/driver.ts'

const FILE = '../shared/real/capmetro-140vans-2017-03-16.jsonl'
const isThere = existsSync(FILE)
if (!isThere) console.warn(`skipped: ${FILE} (a recorded day of 140 vehicles) is not on this machine`)

/** The recording as a log: each fix arrives a second after it was made, and a heartbeat at the end closes all. */
function recordedLog(): LogRecord[] {
  const log = new LogWriter()
  let lastMs = 0
  for (const line of readFileSync(FILE, 'utf8').split('\n')) {
    if (line === '') continue
    const { van, lat, lon, event_ms } = JSON.parse(line)
    log.position(van, event_ms, lat, lon)
    lastMs = event_ms
  }
  return log.heartbeat(lastMs + 3_600_000).records
}

describe.skipIf(!isThere)('a recorded day of 140 vehicles', () => {
  const log = isThere ? recordedLog() : []

  it('gives the same rows live and in batch', () => {
    const live = [...lastRows(runLive(log))].filter(([key]) => !key.startsWith('senyal|')).sort(([a], [b]) => (a < b ? -1 : 1))
    const batch = runBatch(log).filter(({ key }) => !key.startsWith('recorregut|'))
    expect(batch.length).toBeGreaterThan(38_000)
    expect(live).toEqual(batch.map(({ key, value }) => [key, value]))
  })

  it('refuses its two fixes at 0,0, which would have added 43,000 km', () => {
    expect(log).toHaveLength(24_997)
    expect(rowsOf(runLive(log), 'rebutjats')).toEqual([
      { key: '', value: { motiu: 'invalid' } },
      { key: '', value: { motiu: 'invalid' } },
    ])
    const days = parsed(runBatch(log), 'recorregut|').filter(({ value }) => value.periode === 'dia')
    expect(days).toHaveLength(140)
    for (const { key, value } of days) expect(Number(value.distancia_mm), key).toBeLessThan(400_000_000)
  })

  it('the day of a van is the sum of its hours', () => {
    const rows = parsed(runBatch(log), 'recorregut|')
    const sum = (period: string) =>
      rows.filter(({ value }) => value.periode === period).reduce((total, { value }) => total + Number(value.distancia_mm), 0)
    expect(sum('dia')).toBe(sum('hora'))
  })
})
