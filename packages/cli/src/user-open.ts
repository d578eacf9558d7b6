import { userInfo } from 'node:os'
import { EVERYTHING, type LinkView, PERSON_ROLES, type PersonRole, type Scope, type UserView } from '@km0/contracts'
import { parseEnvironment } from '@km0/runtime'
import { openServing } from '@km0/serving'
import { SignIn, signInEnvironment, signInSettings } from '@km0/signin'
import { findDatabaseUrl, findPanelUrl } from './addresses.ts'
import { CommandError } from './command.ts'

/** Opens sign-in for one command, with its tables, and closes it. */
export async function withSignIn<Result>(work: (signIn: SignIn) => Promise<Result>): Promise<Result> {
  const store = { databaseUrl: findDatabaseUrl(process.env), applicationName: 'km0-cli' }
  const serving = openServing(store)
  try {
    await serving.migrate()
  } finally {
    await serving.close()
  }
  const signIn = new SignIn({ ...store, settings: signInSettings(parseEnvironment(signInEnvironment, process.env)) })
  try {
    return await work(signIn)
  } finally {
    await signIn.close()
  }
}

/** Writes into the audit what was done here, by whoever is at the machine. */
export async function noteCommand(signIn: SignIn, action: string, detail: string): Promise<void> {
  await signIn.store.writeAudit({ atMs: Date.now(), actorId: null, actorName: `km0 (${accountName()})`, action, detail, address: 'cli' })
}

/** Of whoever runs the command. */
export function accountName(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run under a number that has no name.
    return String(process.getuid?.() ?? 'unknown')
  }
}

/** The user with this address. Throws CommandError when there is none. */
export async function userNamed(signIn: SignIn, email: string | undefined): Promise<UserView> {
  if (email === undefined) throw new CommandError('say --email ADDRESS; `km0 user list` shows them')
  const user = await signIn.store.findUser({ email })
  if (user === null)
    throw new CommandError(`there is no user ${email}: \`km0 user list\` shows those that are, \`km0 user invite\` adds one`)
  return user
}

export function roleNamed(text: string): PersonRole {
  const role = PERSON_ROLES.find((known) => known === text)
  if (role === undefined) throw new CommandError(`--role ${text}: a role is one of ${PERSON_ROLES.join(', ')}`)
  return role
}

/** A scope from `--depots` and `--markets`, each comma separated; everything when neither is given. */
export function scopeNamed(depots: string | undefined, markets: string | undefined): Scope {
  if (depots === undefined && markets === undefined) return EVERYTHING
  const split = (text: string | undefined) =>
    (text ?? '')
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
  return { kind: 'limited', depots: split(depots), markets: split(markets) }
}

export function scopeText(scope: Scope): string {
  if (scope.kind === 'all') return 'everything'
  return [...scope.depots.map((depot) => `depot ${depot}`), ...scope.markets.map((market) => `market ${market}`)].join(', ') || 'nothing'
}

/** Prints a link so that it can be clicked, and until when it works. */
export function printLink(link: LinkView): void {
  const until = new Date(link.expiresAtMs).toISOString().slice(0, 16).replace('T', ' ')
  process.stdout.write(`${findPanelUrl(process.env)}${link.path}\n`)
  process.stderr.write(`signs ${link.email} in, once, until ${until} UTC\n`)
}
