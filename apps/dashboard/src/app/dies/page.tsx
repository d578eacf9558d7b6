import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { getTranslations } from 'next-intl/server'
import { DaysApp } from '../../features/days/days-app.tsx'
import { daysPlaceOf } from '../../features/days/days-place.ts'
import { Brand } from '../../features/shell/brand.tsx'
import { THEME_COOKIE, themeOf } from '../../features/shell/theme.ts'

export const dynamic = 'force-dynamic'

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('days')
  return { title: t('pageTitle') }
}

export default async function DaysPage({
  searchParams,
}: {
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  return <DaysApp brand={<Brand />} theme={themeOf((await cookies()).get(THEME_COOKIE)?.value)} place={daysPlaceOf(await searchParams)} />
}
