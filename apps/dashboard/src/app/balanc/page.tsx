import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { getTranslations } from 'next-intl/server'
import { LedgerApp } from '../../features/ledger/ledger-app.tsx'
import { Brand } from '../../features/shell/brand.tsx'
import { THEME_COOKIE, themeOf } from '../../features/shell/theme.ts'

export const dynamic = 'force-dynamic'

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('ledger')
  return { title: t('pageTitle') }
}

export default async function LedgerPage({
  searchParams,
}: {
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  const { run } = await searchParams
  const named = typeof run === 'string' && /^\d{1,9}$/.test(run) ? Number(run) : null
  return <LedgerApp brand={<Brand />} theme={themeOf((await cookies()).get(THEME_COOKIE)?.value)} run={named} />
}
