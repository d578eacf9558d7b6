import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { getTranslations } from 'next-intl/server'
import { HandOverApp } from '../../features/hand-over/hand-over-app.tsx'
import { sinceOf } from '../../features/hand-over/prepare-hand-over.ts'
import { Brand } from '../../features/shell/brand.tsx'
import { THEME_COOKIE, themeOf } from '../../features/shell/theme.ts'

export const dynamic = 'force-dynamic'

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('handOver')
  return { title: t('pageTitle') }
}

export default async function HandOverPage({
  searchParams,
}: {
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  const theme = themeOf((await cookies()).get(THEME_COOKIE)?.value)
  return <HandOverApp brand={<Brand />} theme={theme} since={sinceOf((await searchParams).from)} />
}
