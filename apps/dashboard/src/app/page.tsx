import { cookies } from 'next/headers'
import { ownMapOf } from '../features/map/own-map-settings.ts'
import { Brand } from '../features/shell/brand.tsx'
import { PanelApp } from '../features/shell/panel-app.tsx'
import { readPlace } from '../features/shell/place.ts'
import { THEME_COOKIE, themeOf } from '../features/shell/theme.ts'

/** The settings are read at run time: the same build serves every installation. */
export const dynamic = 'force-dynamic'

export default async function Page({ searchParams }: { readonly searchParams: Promise<Record<string, string | string[] | undefined>> }) {
  const given = Object.entries(await searchParams).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
  return (
    <PanelApp
      brand={<Brand />}
      theme={themeOf((await cookies()).get(THEME_COOKIE)?.value)}
      ownMap={ownMapOf(process.env)}
      initialPlace={readPlace(new URLSearchParams(given).toString())}
    />
  )
}
