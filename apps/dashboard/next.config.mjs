import { existsSync, readdirSync } from 'node:fs'
import createNextIntlPlugin from 'next-intl/plugin'

const withNextIntl = createNextIntlPlugin('./src/i18n/request.ts')

/** Paths of the pages that there are: the panel links to no other. */
const app = new URL('src/app/', import.meta.url)
const pages = readdirSync(app, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(new URL(`${entry.name}/page.tsx`, app)))
  .map(({ name }) => `/${name}`)

/** @type {import('next').NextConfig} */
const config = {
  transpilePackages: ['@km0/contracts'],
  // The gate type-checks every room by itself (infra/typecheck.mjs); the build would only do it a second time.
  typescript: { ignoreBuildErrors: true },
  env: { KM0_PAGES: ['/', ...pages].join(',') },
  devIndicators: false,
  poweredByHeader: false,
  // Next may not guess a workspace root from lock files further up.
  turbopack: { root: new URL('../..', import.meta.url).pathname },
}

export default withNextIntl(config)
