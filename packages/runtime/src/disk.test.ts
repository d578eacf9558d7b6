import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { diskEnvironment, watchDisk } from './disk.ts'
import { Health } from './health.ts'
import { createLogger } from './logger.ts'

const program = (variables: Readonly<Record<string, string>> = {}) => ({
  settings: diskEnvironment.parse(variables),
  log: createLogger('test', 'silent'),
  metrics: new Registry(),
  health: new Health(),
})

async function reportAt(used: number, variables: Readonly<Record<string, string>> = {}) {
  const one = program(variables)
  const watch = await watchDisk(one, { lake: '/srv/lake' }, async () => used)
  watch.close()
  return one.health.report()
}

it('says nothing below the share, says it from there on, and is not well when hardly anything is left', async () => {
  expect(await reportAt(0.79)).toEqual({ status: 'ok', parts: { disk: { status: 'ok' } } })
  expect((await reportAt(0.8)).parts.disk).toEqual({ status: 'ok', detail: 'lake: 80 % of its disk is used' })
  expect((await reportAt(0.97)).status).toBe('degraded')
  expect((await reportAt(0.85, { KM0_DISK_ALARM_SHARE: '0.9' })).parts.disk).toEqual({ status: 'ok' })
})

it('measures real folders, one that is not made yet too, and leaves out what is not on this machine', async () => {
  const one = program({ KM0_DISK_WATCH: `kafka=${tmpdir()}, postgres=${join(tmpdir(), 'not', 'there')}` })
  const watch = await watchDisk(one, { lake: 's3://bucket/lake', checkpoints: undefined })
  watch.close()
  const text = await one.metrics.metrics()
  for (const name of ['kafka', 'postgres']) expect(text).toMatch(new RegExp(`km0_disk_used_ratio\\{folder="${name}"\\} (0\\.\\d+|1)\n`))
  expect(text).not.toMatch(/folder="(lake|checkpoints)"/)
})

it('refuses a list that is none', () => {
  expect(diskEnvironment.safeParse({ KM0_DISK_WATCH: 'kafka' }).success).toBe(false)
  expect(diskEnvironment.safeParse({ KM0_DISK_ALARM_SHARE: '80' }).success).toBe(false)
})
