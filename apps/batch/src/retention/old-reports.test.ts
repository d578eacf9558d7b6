import { mkdirSync, mkdtempSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { dropOldReports } from './old-reports.ts'

it('drops reports that are older, and nothing that is not ours', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'km0-reports-'))
  mkdirSync(join(folder, 'old.csv'))
  for (const name of ['torn-2026-01-01.csv', 'torn-x.json', 'notes.txt', 'torn-2026-03-01.csv']) writeFileSync(join(folder, name), '')
  const beforeS = 1_800_000_000
  for (const name of ['torn-2026-01-01.csv', 'torn-x.json', 'notes.txt', 'old.csv'])
    utimesSync(join(folder, name), beforeS - 1, beforeS - 1)
  utimesSync(join(folder, 'torn-2026-03-01.csv'), beforeS, beforeS)
  expect((await dropOldReports(folder, beforeS * 1000)).sort()).toEqual(['torn-2026-01-01.csv', 'torn-x.json'])
  expect(readdirSync(folder).sort()).toEqual(['notes.txt', 'old.csv', 'torn-2026-03-01.csv'])
  expect(await dropOldReports(join(folder, 'nowhere'), beforeS * 1000)).toEqual([])
})
