/** Languages of the panel; the first is the one without a choice. */
export const LOCALES = ['ca', 'es', 'en'] as const
export type Locale = (typeof LOCALES)[number]
export const LOCALE_COOKIE = 'km0_locale'

export function localeOf(text: string | undefined): Locale {
  return LOCALES.find((locale) => locale === text) ?? 'ca'
}
