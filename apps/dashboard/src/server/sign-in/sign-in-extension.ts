import { renameSync, writeFileSync } from 'node:fs'
import type { SignIn } from '@km0/signin'
import type { MaskingRules } from '../masking/settings.ts'
import type { PanelExtension, PanelSignIn } from '../panel-server.ts'
import { addressOf } from './address.ts'
import { PanelSessions } from './panel-sessions.ts'
import { type SignInRestOptions, signInRoutes } from './sign-in-rest.ts'
import { usersRoutes } from './users-rest.ts'

const RETRY_MS = 1_000
const PRUNE_EVERY_MS = 3_600_000
const DAY_MS = 86_400_000

export interface SignInExtensionOptions {
  readonly signIn: SignIn
  readonly attempts: SignInRestOptions['attempts']
  readonly tokenRequestsPerMinute: number
  readonly behindProxy: boolean
  /** Entries of the audit are kept so long. */
  readonly auditDays: number
  readonly masking: MaskingRules
  readonly onTrouble: (error: unknown, what: string) => void
}

/** Sign-in on the panel's server: what the server asks, and the routes. */
export function signInExtension(options: SignInExtensionOptions): PanelExtension & { readonly panel: PanelSignIn } {
  const { signIn, behindProxy } = options
  const sessions = new PanelSessions({ signIn, nowMs: Date.now, masking: options.masking })
  const common = { signIn, changed: () => sessions.changed(), nowMs: Date.now }
  const audit: PanelSignIn['audit'] = (entry) => signIn.store.writeAudit(entry)
  const prune = async () => {
    try {
      await signIn.store.dropAuditBefore(Date.now() - options.auditDays * DAY_MS)
      await signIn.store.dropEnded(Date.now() - DAY_MS)
    } catch (error) {
      options.onTrouble(error, 'old sessions and entries of the audit could not be dropped')
    }
  }
  const timer = setInterval(() => void prune(), PRUNE_EVERY_MS)
  return {
    routes: new Map([
      ...signInRoutes({
        ...common,
        audit,
        attempts: options.attempts,
        secureCookies: signIn.settings.secureCookies,
        addressOf: (request) => addressOf(request, behindProxy),
      }),
      ...usersRoutes(common),
    ]),
    panel: { sessions, audit, behindProxy, tokenRequestsPerMinute: options.tokenRequestsPerMinute },
    stop: () => clearInterval(timer),
  }
}

/**
 * Gives the first administrator a link, at each start until they have come in: says it, and writes it to a file that only our user reads; the
 * file is empty when they have come in before. Waits for
 * the store. Resolves to whether there was one to give.
 */
export async function giveFirstLink(options: {
  readonly signIn: Pick<SignIn, 'firstLink'>
  /** Address of the panel, without a slash at its end. */
  readonly url: string
  /** null for no file. */
  readonly file: string | null
  readonly say: (link: string) => void
  readonly stopped: AbortSignal
}): Promise<void> {
  const { file, signIn } = options
  for (;;) {
    if (options.stopped.aborted) return
    try {
      const link = await signIn.firstLink()
      const text = link === null ? '' : options.url + link.path
      if (file !== null) writeWhole(file, text)
      if (text !== '') options.say(text)
      return
    } catch {
      // The store is away, or its tables are not there yet: health says so.
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }
}

/** Whoever waits for the file never reads a part of it. */
function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.part`, text, { mode: 0o600 })
  renameSync(`${file}.part`, file)
}
