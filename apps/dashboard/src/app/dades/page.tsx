import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { getTranslations } from 'next-intl/server'
import { DataOutApp } from '../../features/data-out/data-out-app.tsx'
import { Brand } from '../../features/shell/brand.tsx'
import { THEME_COOKIE, themeOf } from '../../features/shell/theme.ts'

export const dynamic = 'force-dynamic'

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('dataOut')
  return { title: t('pageTitle') }
}

export default async function DataOutPage() {
  return <DataOutApp brand={<Brand />} theme={themeOf((await cookies()).get(THEME_COOKIE)?.value)} />
}
