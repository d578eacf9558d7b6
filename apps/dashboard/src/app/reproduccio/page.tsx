import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { getTranslations } from 'next-intl/server'
import { ownMapOf } from '../../features/map/own-map-settings.ts'
import { ReplayApp } from '../../features/replay/replay-app.tsx'
import { replayPlaceOf } from '../../features/replay/replay-place.ts'
import { Brand } from '../../features/shell/brand.tsx'
import { THEME_COOKIE, themeOf } from '../../features/shell/theme.ts'

export const dynamic = 'force-dynamic'

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('replay')
  return { title: t('pageTitle') }
}

export default async function ReplayPage({
  searchParams,
}: {
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  return (
    <ReplayApp
      brand={<Brand />}
      theme={themeOf((await cookies()).get(THEME_COOKIE)?.value)}
      place={replayPlaceOf(await searchParams)}
      ownMap={ownMapOf(process.env)}
    />
  )
}
