'use client'

import { useState } from 'react'
import { THEME_COOKIE, type Theme } from './theme.ts'

/** The theme and how to switch it: at once here, by cookie for the next load, which therefore does not flash. */
export function useTheme(initial: Theme): readonly [Theme, () => void] {
  const [theme, setTheme] = useState(initial)
  const switchTheme = () => {
    const next: Theme = theme === 'dark' ? 'light' : 'dark'
    document.documentElement.dataset.theme = next
    rememberCookie(THEME_COOKIE, next)
    setTheme(next)
  }
  return [theme, switchTheme]
}

/** A choice of this browser, kept for a year. */
export function rememberCookie(name: string, value: string): void {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in Safari and on plain http
  document.cookie = `${name}=${value}; path=/; max-age=31536000; samesite=lax`
}
