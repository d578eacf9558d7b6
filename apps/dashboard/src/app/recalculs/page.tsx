import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { getTranslations } from 'next-intl/server'
import { BackfillsApp } from '../../features/backfills/backfills-app.tsx'
import { backfillsPlaceOf } from '../../features/backfills/backfills-place.ts'
import { Brand } from '../../features/shell/brand.tsx'
import { THEME_COOKIE, themeOf } from '../../features/shell/theme.ts'

export const dynamic = 'force-dynamic'

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('backfills')
  return { title: t('pageTitle') }
}

export default async function BackfillsPage({
  searchParams,
}: {
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  return (
    <BackfillsApp
      brand={<Brand />}
      theme={themeOf((await cookies()).get(THEME_COOKIE)?.value)}
      place={backfillsPlaceOf(await searchParams)}
    />
  )
}
