import { z } from 'zod'

/** Page on which a link is used. */
export const LINK_PATH = '/entrada'

export interface SignInSettings {
  /** Signs cookies; null for the one that the store keeps. */
  readonly secret: string | null
  readonly sessionMs: number
  readonly renewEveryMs: number
  readonly linkMs: number
  readonly secureCookies: boolean
  readonly firstAdministrator: { readonly email: string; readonly name: string }
}

const MINUTE_MS = 60_000
const minutes = (text: string, most: number) => z.coerce.number().min(1).max(most).describe(text)

/** Settings of sign-in, for the panel and for `km0 user`. */
export const signInEnvironment = z.object({
  KM0_AUTH_SECRET: z
    .string()
    .min(32)
    .optional()
    .describe(
      'signs the cookies of sessions, 32 characters or more; without it a random one is made at the first start and kept in the store',
    ),
  KM0_SESSION_MINUTES: minutes('minutes that a session lasts after it was used last: a shift', 7 * 24 * 60).default(600),
  KM0_SESSION_RENEW_MINUTES: z.coerce
    .number()
    .min(0)
    .max(24 * 60)
    .default(5)
    .describe('minutes after which using a session makes it longer again'),
  KM0_LINK_MINUTES: minutes('minutes that a one-time sign-in link can be used', 30 * 24 * 60).default(24 * 60),
  KM0_HTTPS: z.stringbool().default(false).describe('the panel is reached by https: cookies are sent by nothing else'),
  KM0_PANEL_URL: z
    .url()
    .optional()
    .transform((url) => url?.replace(/\/+$/, ''))
    .describe('address under which people reach the panel, for links; without it the one that it listens on'),
  KM0_FIRST_ADMIN: z.email().default('admin@km0.local').describe('e-mail address of the administrator whom the first start makes'),
})

/** Settings as the programs use them. */
export function signInSettings(environment: z.infer<typeof signInEnvironment>): SignInSettings {
  return {
    secret: environment.KM0_AUTH_SECRET ?? null,
    sessionMs: environment.KM0_SESSION_MINUTES * MINUTE_MS,
    renewEveryMs: environment.KM0_SESSION_RENEW_MINUTES * MINUTE_MS,
    linkMs: environment.KM0_LINK_MINUTES * MINUTE_MS,
    secureCookies: environment.KM0_HTTPS,
    firstAdministrator: { email: environment.KM0_FIRST_ADMIN, name: 'Administració' },
  }
}
