import type { SignInStore } from '@km0/serving'

/** Header by which the library is told where a request came from: never taken from a browser. */
export const ADDRESS_HEADER = 'x-km0-address'

/** Fewest and most characters of a password; the length is what makes it strong. */
export const PASSWORD_MIN_CHARACTERS = 12
export const PASSWORD_MAX_CHARACTERS = 128

export interface LibraryOptions {
  readonly secret: string
  readonly store: SignInStore
  readonly linkMs: number
  readonly sessionMs: number
  readonly renewEveryMs: number
  readonly secureCookies: boolean
  /** Told the token of a link that was made. */
  readonly onLink: (email: string, token: string) => void
}

export type Library = Awaited<ReturnType<typeof openLibrary>>

/**
 * better-auth over our tables: sessions, one-time links and password hashes. Its own HTTP routes are not served anywhere: the panel calls it, after
 * its own checks of origin and limits. Nobody signs up; users are rows that an administrator made.
 * It is loaded when it is first needed: it is large, and most commands of `km0` never do.
 */
export async function openLibrary(options: LibraryOptions) {
  const { store } = options
  const [{ betterAuth }, { magicLink }] = await Promise.all([import('better-auth'), import('better-auth/plugins/magic-link')])
  return betterAuth({
    appName: 'Quilòmetre Zero',
    // Only for addresses that it would put into e-mails, and it sends none.
    baseURL: 'http://panel.invalid',
    secret: options.secret,
    database: store.libraryPool,
    telemetry: { enabled: false },
    // It calls each wrong password an error; what is wrong with the store is thrown.
    logger: { disabled: true },
    rateLimit: { enabled: false },
    user: {
      modelName: 'sign_in_user',
      fields: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
    },
    session: {
      modelName: 'sign_in_session',
      fields: {
        userId: 'user_id',
        expiresAt: 'expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
      },
      additionalFields: { via: { type: 'string', required: false, input: false } },
      expiresIn: options.sessionMs / 1_000,
      updateAge: options.renewEveryMs / 1_000,
    },
    account: {
      modelName: 'sign_in_account',
      fields: {
        userId: 'user_id',
        accountId: 'account_id',
        providerId: 'provider_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
    },
    verification: {
      modelName: 'sign_in_verification',
      fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
    },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: PASSWORD_MIN_CHARACTERS,
      maxPasswordLength: PASSWORD_MAX_CHARACTERS,
    },
    advanced: {
      cookiePrefix: 'km0',
      useSecureCookies: options.secureCookies,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'strict', path: '/' },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
    },
    databaseHooks: {
      session: {
        create: {
          before: async (session, context) => {
            const user = await store.findUser({ id: session.userId })
            if (user === null || user.revokedAtMs !== null) return false
            return { data: { ...session, via: context?.path.startsWith('/magic-link') ? 'link' : 'password' } }
          },
        },
      },
    },
    plugins: [
      magicLink({
        disableSignUp: true,
        storeToken: 'hashed',
        expiresIn: options.linkMs / 1_000,
        sendMagicLink: ({ email, token }) => options.onLink(email, token),
      }),
    ],
  })
}

/** A refusal of the library, or its way to a page of errors. What is wrong with the store has a status of 500. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' && error.statusCode < 500
}
