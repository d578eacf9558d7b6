import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

/** Names under which a Chromium is installed. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** No traffic of its own, and no sandbox, which root and containers cannot have. WebGL in software works without further flags. */
const FLAGS = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-quic',
  '--no-first-run',
  '--disable-component-update',
  '--disable-sync',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--ignore-gpu-blocklist',
]

/** A browser that cannot draw maps: drawing one in software takes a core, and the panel's lists work all the same. */
const WITHOUT_MAPS = '--disable-3d-apis'

/** Path of a Chromium on this machine: KM0_CHROMIUM, else the first of the usual names on PATH; null when there is none. */
function installedChromium(): string | null {
  const given = process.env.KM0_CHROMIUM
  if (given !== undefined && given !== '') return given
  const folders = (process.env.PATH ?? '').split(delimiter)
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path)) ?? null
}

/** The Chromium that an npm package carries, unpacked below the temporary folder with the libraries that a bare machine may lack. */
async function carriedChromium(): Promise<{ readonly path: string; readonly libraries: string }> {
  const { default: carried, inflate } = await import('@sparticuz/chromium')
  const path = await carried.executablePath()
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium')
  const libraries = await inflate(join(dirname(entry), '..', 'bin', 'al2023.tar.br'))
  return { path, libraries: join(libraries, 'lib') }
}

/**
 * Starts a headless Chromium: the machine's, else the one that npm's `@sparticuz/chromium` carries. Rejects with what was tried when
 * neither starts; whoever tests then counts the test as skipped. Without `maps` it has no WebGL.
 */
export async function launchBrowser({ maps = true }: { readonly maps?: boolean } = {}): Promise<Browser> {
  const args = maps ? FLAGS : [...FLAGS, WITHOUT_MAPS]
  const installed = installedChromium()
  if (installed !== null) return chromium.launch({ executablePath: installed, headless: true, args })
  const { path, libraries } = await carriedChromium()
  const searched = [libraries, process.env.LD_LIBRARY_PATH].filter(Boolean).join(delimiter)
  const env = { ...(process.env as Record<string, string>), LD_LIBRARY_PATH: searched }
  return chromium.launch({ executablePath: path, headless: true, args, env })
}
