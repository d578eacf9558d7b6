import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { endedByThemselves } from './logs.ts'

it('tells which programs ended by themselves, and why', () => {
  const folder = mkdtempSync(join(tmpdir(), 'km0-logs-'))
  const fatal = (message: string) =>
    `    {"level":"fatal","time":"t","part":"x","err":{"type":"Error","message":"${message}"},"msg":"stopping after an error"}`
  const lines = [
    '2026-11-30T01:36:24.844Z ✓ start bridge',
    '2026-11-30T01:36:25.000Z stream-lake ended (exit 1); the end of /x/lake.log:',
    '    {"level":"info","msg":"partition taken over"}',
    fatal('the group is gone\\nand more'),
    '    {"level":"info","msg":"stopped"}',
    '2026-11-30T01:36:26.000Z stream-lake ended (SIGKILL); the end of /x/lake.log:',
    fatal('of another end'),
    '2026-11-30T01:36:27.000Z mqtt ended (exit 0); the end of /x/mqtt.log:',
    '    no JSON',
    '2026-11-30T01:36:27.000Z fleet ended (exit 0); the end of /x/fleet.log:',
    '2026-11-30T01:36:28.000Z stream-lake ended (exit 1); the end of /x/lake.log:',
    fatal('the group is gone'),
  ]
  writeFileSync(join(folder, 'launcher.log'), `${lines.join('\n')}\n`)
  expect(endedByThemselves(folder)).toEqual(['2 × stream-lake (exit 1: the group is gone)', '1 × fleet (exit 0)'])
  rmSync(folder, { recursive: true })
})
