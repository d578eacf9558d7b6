import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { PlatformUnderTest } from '../e2e/platform.ts'
import { firstLoadKb, memory, probe, type Seen, takeSeen } from './panel-page.ts'
import { isPublished } from './panel-route.ts'
import { peakRssMbOf } from './proc.ts'
import { descendsFrom, ProcessCpu, type Share } from './process-cpu.ts'

/** Until everything has been seen once, and compiled. */
const WARM_UP_MS = 15_000
/** Longer than any run. */
const PUBLISH_SECONDS = 600
/** Who publishes, which is no part of what is measured. */
export const VANS = 'vans'

export type Cookies = Awaited<ReturnType<BrowserContext['storageState']>>

/** What was seen in one page of so many vans. */
export interface PanelRun {
  readonly seconds: number
  readonly seen: Seen
  /** Vans that were drawn last where they never were. */
  readonly misplaced: readonly string[]
  readonly shares: readonly Share[]
  /** Of the programs of the platform and its services: the highest of each, added. */
  readonly peakRssMb: number
  readonly heapMb: number
  readonly firstLoad: Awaited<ReturnType<typeof firstLoadKb>>
}

/** Signed in with the link of the first start, which works once. */
export async function signIn(browser: Browser, platform: PlatformUnderTest): Promise<Cookies> {
  const { url } = platform.addresses()
  const context = await browser.newContext()
  await context.addCookies([{ name: 'km0_locale', value: 'en', url }])
  const page = await context.newPage()
  await page.goto(`${url}entrada#${platform.linkToken()}`)
  await page.getByRole('button', { name: 'Sign in with the link' }).click()
  await page.getByRole('button', { name: 'Not now' }).click()
  await page.waitForURL(url)
  const cookies = await context.storageState()
  await context.close()
  return cookies
}

async function openPanel(browser: Browser, url: string, cookies: Cookies): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, storageState: cookies })
  const page = await context.newPage()
  page.on('pageerror', (error) => console.error('page error:', error.message))
  await probe(page)
  await page.goto(`${url}?layers=singles&map=12.60/41.98000/2.82000`)
  await page.locator('[data-status="ready"]').waitFor({ timeout: 60_000 })
  return page
}

/** Opens a page while so many vans publish, and looks at it for so many seconds, after a warm-up. */
export async function measure(
  browser: Browser,
  platform: PlatformUnderTest,
  cookies: Cookies,
  vans: number,
  seconds: number,
): Promise<PanelRun> {
  const { mqttUrl, url } = platform.addresses()
  const file = fileURLToPath(new URL('panel-publisher.ts', import.meta.url))
  const publisher = spawn(process.execPath, ['--import', 'tsx', file, mqttUrl, String(vans), String(PUBLISH_SECONDS)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const page = await openPanel(browser, url, cookies)
    const firstLoad = await firstLoadKb(page)
    await sleep(WARM_UP_MS)
    await takeSeen(page)
    const ours = new Set(platform.pidsOf())
    const cpu = new ProcessCpu((pid, command) => {
      if (pid === publisher.pid) return VANS
      if (command.includes('--type=') || command.includes('chrom')) return descendsFrom(pid, process.pid) ? chromiumPart(command) : null
      return ours.has(pid) ? partOf(command) : null
    })
    const startMs = performance.now()
    await sleep(seconds * 1_000)
    const seen = await takeSeen(page)
    const took = Number(((performance.now() - startMs) / 1_000).toFixed(2))
    const shares = cpu.shares()
    const misplaced = Object.entries(seen.drawn).flatMap(([van, drawn]) => (isPublished(van, drawn) ? [] : [van]))
    const { heapMb } = await memory(page)
    return { seconds: took, seen, misplaced, shares, peakRssMb: peakOf(ours), heapMb, firstLoad }
  } finally {
    publisher.kill('SIGKILL')
    for (const context of browser.contexts()) await context.close()
  }
}

function peakOf(pids: Iterable<number>): number {
  let sum = 0
  for (const pid of pids) {
    try {
      sum += peakRssMbOf(pid)
    } catch {
      // It has ended meanwhile.
    }
  }
  return sum
}

function chromiumPart(command: string): string {
  const type = /--type=([\w-]+)/.exec(command)?.[1]
  return `chromium ${type ?? 'browser'}`
}

function partOf(command: string): string {
  const role = /--role (\S+)/.exec(command)?.[1]
  const bundle = /(?:apps|packages)\/(\w+)\/dist/.exec(command)?.[1]
  if (bundle !== undefined) return role === undefined ? bundle : `${bundle} ${role}`
  return /kafka|postgres|redis|broker|mosquitto|launcher/.exec(command)?.[0] ?? 'other'
}
