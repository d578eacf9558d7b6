// The whole way in a browser: a recording played over MQTT; vans move, one goes silent and comes back, distances appear.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodePanelValue, decodeSource, madridDate, type RecentPointsView, TOPICS } from '@km0/contracts'
import { launchBrowser } from '@km0/testkit/browser'
import { type LogRecord, openLog } from '@km0/transport'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerProblem } from '../../apps/dashboard/src/server/data-out/answer-check.testbench.ts'
import { PlatformUnderTest } from '../e2e/platform.ts'
import { interfaceCalls } from './interface-calls.ts'

const ARTEFACTS = join(import.meta.dirname, '../artefacts/real-stack')
const VANS = 12
const MINUTE_MS = 60_000
const LASTS_MS = 48 * MINUTE_MS
const STEP_MS = 10_000
/** The silence begins 48 s after the play and lasts a minute: a busy machine draws the map for the first time meanwhile. */
const SPEED = 20
const SILENT_VAN = 'furgoneta-4'
const SILENT_FROM_MS = 16 * MINUTE_MS
const SILENT_UNTIL_MS = 36 * MINUTE_MS

let browser: Browser | null = null
try {
  browser = await launchBrowser()
} catch (error) {
  console.warn(`SKIPPED: no browser can be started: ${String(error)}`)
}

/** Vans that go round Girona at 11 m/s, one of them silent for twenty minutes. */
function recordingText(): string {
  const startMs = Date.UTC(2026, 2, 3, 9)
  const lines: string[] = []
  for (let atMs = 0; atMs < LASTS_MS; atMs += STEP_MS) {
    for (let number = 1; number <= VANS; number += 1) {
      const van = `furgoneta-${number}`
      if (van === SILENT_VAN && atMs >= SILENT_FROM_MS && atMs < SILENT_UNTIL_MS) continue
      const turn = (atMs / 1000) * 0.002 + number
      const lat = 41.98 + 0.05 * Math.sin(turn) * (1 + number / 20)
      const lon = 2.82 + 0.067 * Math.cos(turn) * (1 + number / 20)
      lines.push(JSON.stringify({ van, lat, lon, event_ms: startMs + atMs + number * 300 }))
    }
  }
  return `${lines.join('\n')}\n`
}

describe.skipIf(browser === null)('the panel on the real stack', () => {
  const folder = mkdtempSync(join(tmpdir(), 'km0-recording-'))
  let platform: PlatformUnderTest
  let page: Page
  const errors: string[] = []
  const foreign: string[] = []

  beforeAll(async () => {
    mkdirSync(ARTEFACTS, { recursive: true })
    const recording = join(folder, 'round.jsonl')
    writeFileSync(recording, recordingText())
    platform = await PlatformUnderTest.start(['--play', recording, '--speed', String(SPEED)])
    const { url } = platform.addresses()
    const context = await (browser as Browser).newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
    await context.addCookies([{ name: 'km0_locale', value: 'en', url }])
    page = await context.newPage()
    page.on('pageerror', (error) => errors.push(error.message))
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !/^(blob|data):/.test(request.url())) foreign.push(request.url())
    })
    // In the way of the first administrator.
    await page.goto(`${url}entrada#${platform.linkToken()}`)
    await page.getByRole('button', { name: 'Sign in with the link' }).click()
    await page.getByRole('button', { name: 'Not now' }).click()
    await page.waitForURL(url)
  }, 180_000)

  afterAll(async () => {
    await browser?.close()
    await platform?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const silentRow = () => page.locator(`li[data-van="${SILENT_VAN}"]`)

  it('vans move on the map', async () => {
    await page.locator('[data-status="ready"]').waitFor({ timeout: 60_000 })
    await expect
      .poll(async () => Number(await page.locator('[data-counter="moving"]').textContent()), { timeout: 40_000 })
      .toBeGreaterThan(8)
    const before = await page.locator('.maplibregl-canvas').screenshot({ timeout: 60_000 })
    await page.waitForTimeout(3_000)
    const after = await page.locator('.maplibregl-canvas').screenshot({ timeout: 60_000, path: join(ARTEFACTS, 'moving.png') })
    expect(before.equals(after)).toBe(false)
  }, 120_000)

  it('single points come out of the log, each as it was taken', async () => {
    const { url } = platform.addresses()
    const read = async () => (await page.request.get(`${url}/api/points?van=furgoneta-1`)).json() as Promise<RecentPointsView>
    await expect.poll(async () => (await read()).points.length, { timeout: 30_000 }).toBeGreaterThan(3)
    const { points } = await read()
    expect(points.every(({ verdict, lat }) => verdict === 'accepted' && lat !== null)).toBe(true)
    const times = points.map(({ eventMs }) => eventMs)
    expect(times).toEqual([...times].sort((a, b) => a - b))
  }, 60_000)

  it('one goes silent: an episode with its duration', async () => {
    await expect.poll(() => silentRow().getAttribute('data-band'), { timeout: 60_000 }).toMatch(/provisional|episode|long/)
    await expect.poll(() => silentRow().getAttribute('data-band'), { timeout: 30_000 }).toMatch(/episode|long/)
    await page.screenshot({ path: join(ARTEFACTS, 'silent.png') })
  }, 100_000)

  it('and comes back', async () => {
    await silentRow().waitFor({ state: 'detached', timeout: 60_000 })
    await page.screenshot({ path: join(ARTEFACTS, 'back.png') })
  }, 70_000)

  it('the log says so 3:45 to 3:55 after the last fix', async () => {
    const log = openLog({ brokers: platform.addresses().kafkaBrokers.split(','), clientId: 'real-stack' })
    const read = async (topic: string) => {
      const records: LogRecord[] = []
      for await (const batch of log.readTopic({ topic, until: await log.endOffsets(topic) })) records.push(...batch.records)
      return records
    }
    const silences = (await read(TOPICS.panel.name)).filter(({ value }) => value?.includes('sense-senyal') && value.includes(SILENT_VAN))
    const [first] = silences
    const value = decodePanelValue(first?.value?.toString('utf8') ?? '')
    const source = decodeSource(first?.headers ?? {})
    if (value?.tipus !== 'senyal' || source === null) throw new Error('there is no silence of the van in the log')
    const cause = (await read(TOPICS.positions.name)).find(
      ({ partition, offset }) => partition === source.partition && offset === source.offset,
    )
    const afterMs = (cause?.timestampMs ?? Number.NaN) - value.des_de_ms
    expect(afterMs).toBeGreaterThan(225_000)
    expect(afterMs).toBeLessThanOrEqual(235_000)
  }, 60_000)

  it('distances of windows that have closed are in the table', async () => {
    await expect.poll(() => page.locator('tbody tr[data-van]').count(), { timeout: 60_000 }).toBe(VANS)
    // 11 m/s for five minutes.
    const text = await page.locator('tbody tr[data-van="furgoneta-1"]').textContent()
    expect(text).toMatch(/[23]\.\d\d/)
    expect(errors).toEqual([])
    expect(foreign).toEqual([])
  }, 70_000)

  it('what each route answers is what the description of the interface says', async () => {
    const origin = platform.addresses().url.replace(/\/$/, '')
    const nowMs = Date.now()
    const wrong: string[] = []
    let good = 0
    for (const [route, { query = '', body }] of interfaceCalls('furgoneta-1', madridDate(nowMs), nowMs)) {
      const [method = '', path = ''] = route.split(' ')
      const options = { method, headers: { origin }, ...(body === undefined ? {} : { data: body }) }
      const answer = await page.request.fetch(`${origin}${path}${query}`, options)
      if (answer.ok()) good += 1
      // What there is none of yet, or may not be done now, is refused; nothing else is.
      else if (![404, 409].includes(answer.status())) wrong.push(`${route}: ${answer.status()} ${await answer.text()}`)
      const problem = answerProblem(answer.ok() ? route : 'refusal', await answer.json())
      if (problem !== null) wrong.push(`${route}: ${problem}`)
    }
    expect(wrong).toEqual([])
    expect(good).toBeGreaterThan(45)
  }, 60_000)
})
