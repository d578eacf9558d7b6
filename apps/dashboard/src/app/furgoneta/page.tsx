import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { getTranslations } from 'next-intl/server'
import { ownMapOf } from '../../features/map/own-map-settings.ts'
import { Brand } from '../../features/shell/brand.tsx'
import { THEME_COOKIE, themeOf } from '../../features/shell/theme.ts'
import { VanPageApp } from '../../features/van-page/van-page-app.tsx'
import { vanPagePlaceOf } from '../../features/van-page/van-page-place.ts'

export const dynamic = 'force-dynamic'

type Query = Promise<Record<string, string | string[] | undefined>>

export async function generateMetadata({ searchParams }: { readonly searchParams: Query }): Promise<Metadata> {
  const t = await getTranslations('vanPage')
  const { van } = vanPagePlaceOf(await searchParams)
  return { title: van === null ? t('pageTitle') : `${van} · ${t('pageTitle')}` }
}

export default async function VanPage({ searchParams }: { readonly searchParams: Query }) {
  return (
    <VanPageApp
      brand={<Brand />}
      theme={themeOf((await cookies()).get(THEME_COOKIE)?.value)}
      place={vanPagePlaceOf(await searchParams)}
      ownMap={ownMapOf(process.env)}
    />
  )
}
