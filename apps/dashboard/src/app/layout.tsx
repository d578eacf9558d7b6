import '@fontsource-variable/inter/wght.css'
import 'maplibre-gl/dist/maplibre-gl.css'
import './globals.css'
import type { Metadata, Viewport } from 'next'
import { cookies } from 'next/headers'
import { NextIntlClientProvider } from 'next-intl'
import { getLocale, getTranslations } from 'next-intl/server'
import type { ReactNode } from 'react'
import { THEME_COOKIE, themeOf } from '../features/shell/theme.ts'
import { SessionGuard } from '../features/sign-in/session-guard.tsx'

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations('app')
  return { title: t('title'), description: t('description') }
}

export const viewport: Viewport = { width: 'device-width', initialScale: 1, viewportFit: 'cover' }

export default async function RootLayout({ children }: { readonly children: ReactNode }) {
  const theme = themeOf((await cookies()).get(THEME_COOKIE)?.value)
  return (
    <html lang={await getLocale()} data-theme={theme}>
      <body>
        <NextIntlClientProvider>
          {children}
          <SessionGuard />
        </NextIntlClientProvider>
      </body>
    </html>
  )
}
