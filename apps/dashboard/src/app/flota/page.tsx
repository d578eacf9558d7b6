import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { getTranslations } from 'next-intl/server'
import { partOf } from '../../features/register/prepare-register.ts'
import { RegisterApp } from '../../features/register/register-app.tsx'
import { Brand } from '../../features/shell/brand.tsx'
import { THEME_COOKIE, themeOf } from '../../features/shell/theme.ts'

export const dynamic = 'force-dynamic'

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('register')
  return { title: t('pageTitle') }
}

export default async function RegisterPage({
  searchParams,
}: {
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  const theme = themeOf((await cookies()).get(THEME_COOKIE)?.value)
  const { part, new: newVan } = await searchParams
  return <RegisterApp brand={<Brand />} theme={theme} part={partOf(part)} newVan={typeof newVan === 'string' ? newVan : null} />
}
