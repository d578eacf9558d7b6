export const THEME_COOKIE = 'km0_theme'
export type Theme = 'dark' | 'light'

/** Dark unless somebody chose otherwise: a control room is. */
export function themeOf(text: string | undefined): Theme {
  return text === 'light' ? 'light' : 'dark'
}
