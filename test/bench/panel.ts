// How long a position takes from MQTT to the screen, and what the panel costs. The whole platform as `npm start` runs it, without the demo fleet;
// vans of a process of their own; a real browser with WebGL in software, all on this machine.
//   node infra/build.mjs && node infra/build.mjs --pages && pnpm bench panel [--vans 140,10000] [--seconds 30]
// `--hour` measures instead whether memory stays flat: an hour of 140 vans, a delta a second and batches between them, fifteen times as fast.
import { execFileSync, spawn } from 'node:child_process'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { launchBrowser } from '@km0/testkit/browser'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { PlatformUnderTest } from '../e2e/platform.ts'
import { measureHour } from './panel-hour.ts'
import { firstLoadKb, memory, probe, quantile, takeSeen } from './panel-page.ts'
import { descendsFrom, ProcessCpu } from './process-cpu.ts'

const { values } = parseArgs({
  options: {
    vans: { type: 'string', default: '140,10000' },
    seconds: { type: 'string', default: '30' },
    hour: { type: 'boolean', default: false },
  },
})
const seconds = Number(values.seconds)
/** Until everything has been seen once, and compiled. */
const WARM_UP_MS = 15_000

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const text = (ms: number) => (ms < 100 ? ms.toFixed(0) : String(Math.round(ms)))

type Cookies = Awaited<ReturnType<BrowserContext['storageState']>>

/** Signed in with the link of the first start, which works once. */
async function signIn(browser: Browser, platform: PlatformUnderTest): Promise<Cookies> {
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

async function measure(browser: Browser, platform: PlatformUnderTest, cookies: Cookies, vans: number): Promise<void> {
  const publisher = spawn(
    process.execPath,
    ['--import', 'tsx', fileURLToPath(new URL('panel-publisher.ts', import.meta.url)), platform.addresses().mqttUrl, String(vans), '600'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  try {
    const page = await openPanel(browser, platform.addresses().url, cookies)
    const { zipped, unpacked } = await firstLoadKb(page)
    await sleep(WARM_UP_MS)
    await takeSeen(page)
    const ours = new Set(platform.pidsOf())
    const cpu = new ProcessCpu((pid, command) => {
      if (pid === publisher.pid) return 'vans'
      if (command.includes('--type=') || command.includes('chrom')) return descendsFrom(pid, process.pid) ? chromiumPart(command) : null
      return ours.has(pid) ? partOf(command) : null
    })
    await sleep(seconds * 1_000)
    const seen = await takeSeen(page)
    const shares = cpu.percent()
    const { publishToPaint, serverToPaint, longTasks, frames } = seen
    const perSecond = Math.round(publishToPaint.length / seconds)
    const both = (times: readonly number[]) => `${text(quantile(times, 0.5))} / ${text(quantile(times, 0.99))}`
    console.log(
      `| ${vans} | ${perSecond} | ${both(publishToPaint)} | ${both(serverToPaint)} | ${both(frames)} | ${longTasks.length}, most ${text(Math.max(0, ...longTasks))} | ` +
        `${(await memory(page)).heapMb} | ${zipped} (${unpacked}) | ${shares
          .filter(({ percent }) => percent >= 1)
          .map(({ name, percent }) => `${name} ${percent}`)
          .join(', ')} |`,
    )
  } finally {
    publisher.kill('SIGKILL')
    for (const context of browser.contexts()) await context.close()
  }
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

const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
console.log(`commit ${commit}, load ${loadavg()[0]?.toFixed(1)} before, Node ${process.version}`)
if (values.hour) {
  for (const line of await measureHour()) console.log(line)
} else {
  const platform = await PlatformUnderTest.start(['--no-demo'])
  try {
    console.log(
      '| vans | drawn a second | publish to pixel p50 / p99, ms | server to paint | between frames | long tasks | heap MB | first load JS, KB (unpacked) | CPU of one core, % |',
    )
    console.log('|---|---|---|---|---|---|---|---|---|')
    const browser = await launchBrowser()
    const cookies = await signIn(browser, platform)
    for (const vans of values.vans.split(',').map(Number)) await measure(browser, platform, cookies, vans)
    await browser.close()
  } finally {
    await platform.stop()
  }
}
console.log(`load ${loadavg()[0]?.toFixed(1)} after`)
process.exit(0)
