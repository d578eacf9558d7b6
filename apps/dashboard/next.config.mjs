import createNextIntlPlugin from 'next-intl/plugin'

const withNextIntl = createNextIntlPlugin('./src/i18n/request.ts')

/** @type {import('next').NextConfig} */
const config = {
  transpilePackages: ['@km0/contracts'],
  // The gate type-checks every room by itself (infra/typecheck.mjs); the build would only do it a second time.
  typescript: { ignoreBuildErrors: true },
  devIndicators: false,
  poweredByHeader: false,
  // Next may not guess a workspace root from lock files further up.
  turbopack: { root: new URL('../..', import.meta.url).pathname },
}

export default withNextIntl(config)
