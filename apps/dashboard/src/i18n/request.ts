import { cookies } from 'next/headers'
import { getRequestConfig } from 'next-intl/server'
import { LOCALE_COOKIE, localeOf } from './locales.ts'

export default getRequestConfig(async () => {
  const locale = localeOf((await cookies()).get(LOCALE_COOKIE)?.value)
  const messages = (await import(`../../messages/${locale}.json`)).default
  return { locale, messages, timeZone: 'Europe/Madrid', now: new Date(0) }
})
