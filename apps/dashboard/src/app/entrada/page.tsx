import type { Metadata } from 'next'
import { cookies } from 'next/headers'
import { getTranslations } from 'next-intl/server'
import { Brand } from '../../features/shell/brand.tsx'
import { THEME_COOKIE, themeOf } from '../../features/shell/theme.ts'
import { EntryApp } from '../../features/sign-in/entry-app.tsx'
import { wayBack } from '../../features/sign-in/way-back.ts'

export const dynamic = 'force-dynamic'

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('entry')
  return { title: t('pageTitle') }
}

/** Where one signs in, by a one-time link or a password. */
export default async function EntryPage({
  searchParams,
}: {
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  const { torna, paret, contrasenya } = await searchParams
  return (
    <EntryApp
      brand={<Brand />}
      theme={themeOf((await cookies()).get(THEME_COOKIE)?.value)}
      next={wayBack(typeof torna === 'string' ? torna : '/')}
      wallRefused={paret !== undefined}
      changing={contrasenya !== undefined}
    />
  )
}
