import { cookies } from 'next/headers'
import { Brand } from '../features/shell/brand.tsx'
import { PanelApp } from '../features/shell/panel-app.tsx'
import { THEME_COOKIE, themeOf } from '../features/shell/theme.ts'

/** The settings are read at run time: the same build serves every installation. */
export const dynamic = 'force-dynamic'

export default async function Page({ searchParams }: { readonly searchParams: Promise<Record<string, string | string[] | undefined>> }) {
  const { van } = await searchParams
  return (
    <PanelApp
      brand={<Brand />}
      theme={themeOf((await cookies()).get(THEME_COOKIE)?.value)}
      mapStyleUrl={process.env.KM0_MAP_STYLE_URL || null}
      initialVan={typeof van === 'string' && van !== '' ? van : null}
    />
  )
}
