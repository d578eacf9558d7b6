import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { getTranslations } from 'next-intl/server'
import { Brand } from '../../features/shell/brand.tsx'
import { THEME_COOKIE, themeOf } from '../../features/shell/theme.ts'
import { StockApp } from '../../features/stock/stock-app.tsx'

export const dynamic = 'force-dynamic'

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('stock')
  return { title: t('pageTitle') }
}

export default async function StockPage({
  searchParams,
}: {
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  const { mercat } = await searchParams
  return (
    <StockApp
      brand={<Brand />}
      theme={themeOf((await cookies()).get(THEME_COOKIE)?.value)}
      initialMarket={typeof mercat === 'string' && mercat !== '' ? mercat : null}
    />
  )
}
