import { createLogger } from '@km0/runtime'
import { describe, expect, it } from 'vitest'
import { HoleWatch } from './hole-watch.ts'

function setUp() {
  const counted: [number, number][] = []
  const watch = new HoleWatch(createLogger('test', 'silent'), (partition, records) => counted.push([partition, records]))
  return { watch, counted }
}
const AT_MS = Date.UTC(2026, 8, 14, 8, 20)

describe('holes that retention has left', () => {
  it('are told with offsets, times and the backfill of whole hours, once the first record behind them is there', () => {
    const { watch, counted } = setUp()
    watch.find(3, 50, 90, AT_MS)
    expect([watch.health(), counted]).toEqual([{ status: 'ok' }, [[3, 40]]])
    watch.hear(2, AT_MS)
    expect(watch.health().status).toBe('ok')
    watch.hear(3, AT_MS + 3_600_000)
    const { status, detail } = watch.health()
    expect(status).toBe('degraded')
    expect(detail).toContain('partition 3: retention has deleted the records 50 to 89 before they were read')
    expect(detail).toContain('live results from 2026-09-14T08:20:00.000Z to 2026-09-14T09:20:00.000Z miss them')
    expect(detail).toContain('pnpm km0 backfill run --from 2026-09-14T08:00:00.000Z --to 2026-09-14T10:00:00.000Z')
  })

  it('are told for a state that begins where the log begins, without knowing since when', () => {
    const { watch } = setUp()
    watch.find(0, 0, 90, Number.NEGATIVE_INFINITY)
    watch.find(1, 0, 70, null)
    for (const partition of [0, 1]) watch.hear(partition, AT_MS)
    expect(watch.health().detail).toMatch(
      /live results before 2026-09-14T08:20.*backfill run --from TIME --to 2026-09-14T09.*\(and 1 more partitions\)/,
    )
  })

  it('are none where nothing is missing', () => {
    const { watch, counted } = setUp()
    watch.find(0, 0, 0, null)
    watch.hear(0, AT_MS)
    expect([watch.health().status, counted]).toEqual(['ok', []])
  })
})
