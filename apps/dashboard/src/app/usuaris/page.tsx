import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { getTranslations } from 'next-intl/server'
import { Brand } from '../../features/shell/brand.tsx'
import { THEME_COOKIE, themeOf } from '../../features/shell/theme.ts'
import { UsersApp } from '../../features/users/users-app.tsx'

export const dynamic = 'force-dynamic'

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('users')
  return { title: t('pageTitle') }
}

export default async function UsersPage() {
  return <UsersApp brand={<Brand />} theme={themeOf((await cookies()).get(THEME_COOKIE)?.value)} />
}
