import { madridDay, madridTimeOfDay, type NoSignalEvent } from '@km0/contracts'
import { describe, expect, it } from 'vitest'
import { dailyReport, nameOfDay } from './daily-report.ts'
import { dueReports } from './due-reports.ts'
import { eventText } from './event-text.ts'
import { fileName } from './send.ts'
import { signatureOf } from './send-webhook.ts'

const at = (text: string) => Date.parse(text)

describe('daily reports', () => {
  const names = (createdAt: string, now: string, minutes = 360, days = 7) =>
    dueReports({ reportMinutes: minutes, createdAtMs: at(createdAt) }, at(now), days).map(nameOfDay)

  it('are due at their time of day in Madrid, of the day before', () => {
    expect(names('2026-03-01T12:00Z', '2026-03-02T04:59Z')).toEqual([])
    expect(names('2026-03-01T12:00Z', '2026-03-02T05:00Z')).toEqual(['2026-03-01'])
  })

  it('that were missed are caught up, none from before the schedule', () => {
    expect(names('2026-03-01T12:00Z', '2026-03-05T12:00Z')).toEqual(['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04'])
    expect(names('2025-01-01T00:00Z', '2026-03-05T12:00Z', 360, 2)).toEqual(['2026-03-03', '2026-03-04'])
  })

  it.each([
    ['spring', '2026-03-29', 150],
    ['autumn', '2026-10-25', 150],
  ])('in %s, in an hour that is left out or comes twice, are due once', (_season, day, minutes) => {
    const { startMs, endMs } = madridDay(at(`${day}T12:00Z`))
    const due = madridTimeOfDay(startMs, minutes)
    const seen = new Set<string>()
    for (let nowMs = startMs; nowMs < endMs; nowMs += 600_000) {
      const days = dueReports({ reportMinutes: minutes, createdAtMs: startMs }, nowMs, 7).map(nameOfDay)
      expect(days.length).toBe(nowMs >= due ? 1 : 0)
      for (const name of days) seen.add(name)
    }
    expect(seen.size).toBe(1)
  })

  it('have a line a van, also one that was not heard', () => {
    const day = madridDay(at('2026-11-02T12:00Z'))
    const cell = { jumpsMm: null, gaps: null, gapsMm: null, versions: [3], isLive: true, positions: 9, jumps: 1 }
    const van = { plate: null, depot: 'girona' }
    const csv = dailyReport(
      {
        days: [day],
        vans: [
          { van: 'a', name: '=A', ...van },
          { van: 'b', name: null, ...van },
        ],
        cells: [{ van: 'a', dayMs: day.startMs, distanceMm: 12_345_678, ...cell }],
        late: [{ van: 'a', dayMs: day.startMs, tard: 1, parcial: 2 }],
        certificates: [],
      },
      [{ van: 'a', silences: 2, silentMs: 20 * 60_000 }],
      day,
    )
    expect(csv.split('\r\n').slice(1)).toEqual([
      "a,'=A,,girona,2026-11-02,12.346,9,1,3,2,20,3 live",
      'b,,,girona,2026-11-02,0.000,0,0,0,0,0,',
      '',
    ])
  })
})

describe('what is sent', () => {
  const event: NoSignalEvent = {
    ...{
      id: 1,
      key: 'no-signal/a/1/15',
      kind: 'no-signal',
      van: 'furgoneta-3',
      atMs: 0,
      foundAtMs: 0,
      stepMs: 900_000,
      lat: 41.98,
      lon: 2.82,
    },
    sinceMs: at('2026-10-25T00:30Z'),
  }

  it.each(['ca', 'es', 'en'] as const)('says the same in %s, with the offset of the hour that comes twice', (locale) => {
    const { subject, text } = eventText(event, locale)
    expect(subject).toContain('furgoneta-3')
    expect(subject).toContain('15 min')
    expect(text).toMatch(/2:30:00.*GMT\+2/)
    expect(eventText({ ...event, sinceMs: event.sinceMs + 3_600_000 }, locale).text).toMatch(/2:30:00.*GMT\+1/)
    expect(text).toContain('41.98000, 2.82000')
    expect(text).toContain('no-signal/a/1/15')
  })

  it.each([
    ['ca', 'furgoneta-3: llavors 22 min de silenci; ara se’n sap un buit de 10 s, que va arribar tard'],
    ['es', 'furgoneta-3: entonces 22 min de silencio; ahora se sabe un hueco de 10 s, que llegó tarde'],
    ['en', 'furgoneta-3: known then 22 min of silence; known now a gap of 10 s, reported late'],
  ] as const)('says in %s what was known then and is known now', (locale, subject) => {
    const frame = { id: 1, key: 'corrected/furgoneta-3/1/9', atMs: 2, foundAtMs: 3, kind: 'corrected', van: 'furgoneta-3' } as const
    const event = { ...frame, sinceMs: 1, endedMs: 2, thenMs: 22 * 60_000, knownGapMs: 10_000, latePoints: 9 }
    expect(eventText(event, locale)).toMatchObject({ subject })
  })

  it('is signed over time and body', () => {
    expect(signatureOf('secret', '{}', 1_700_000_000)).toBe(
      't=1700000000,v1=b8569b78799ff9e3cbff0fc2d63a33a2b57f3282abd07c37ae5e8e7d79a5f163',
    )
    expect(signatureOf('secret', '{}', 1)).not.toBe(signatureOf('other', '{}', 1))
  })

  it('lies in a file of a plain name', () => {
    expect(['Informe de matí', '../../etc/passwd', '…', 'a'.repeat(99)].map(fileName)).toEqual([
      'informe-de-mati',
      'etc-passwd',
      'km0',
      'a'.repeat(60),
    ])
  })
})
