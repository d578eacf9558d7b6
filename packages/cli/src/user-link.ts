import { parseArgs } from 'node:util'
import type { UserView } from '@km0/contracts'
import type { SignIn } from '@km0/signin'
import { type Command, CommandError } from './command.ts'
import { noteCommand, printLink, roleNamed, scopeNamed, scopeText, userNamed, withSignIn } from './user-open.ts'

const text = { type: 'string' } as const
const TAKES = 'Takes DATABASE_URL and KM0_PANEL_URL, or the platform that `npm start` runs here.'

export const userLink: Command = {
  words: ['user', 'link'],
  summary: 'make a one-time sign-in link',
  help: `km0 user link [--email ADDRESS]

  Prints a link that signs a user in, once. Without --email it is for the first administrator, who is made when nobody may administer.
  In the link's page they may choose a password. It expires after KM0_LINK_MINUTES (1440).
  ${TAKES}`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { email: text } })
    await withSignIn(async (signIn) => {
      const user = values.email === undefined ? await anAdministrator(signIn) : await userNamed(signIn, values.email)
      if (user.revokedAtMs !== null) throw new CommandError(`${user.email} may not come in: km0 user restore --email ${user.email}`)
      const link = await signIn.makeLink(user.email)
      await noteCommand(signIn, 'users/link', `email: ${user.email}`)
      printLink(link)
    })
    return 0
  },
}

/** The administrator who was there first; made when there is none. */
async function anAdministrator(signIn: SignIn): Promise<UserView> {
  const known = (await signIn.store.listUsers()).filter(({ role, revokedAtMs }) => role === 'administrator' && revokedAtMs === null)
  const [first] = known.sort((a, b) => a.createdAtMs - b.createdAtMs)
  if (first !== undefined) return first
  const { email, name } = signIn.settings.firstAdministrator
  const added = await signIn.addUser({ email, name, role: 'administrator', scope: { kind: 'all' } })
  if (added === null) throw new CommandError(`${email} is no administrator, and nobody else is: set KM0_FIRST_ADMIN to another address`)
  return added
}

export const userInvite: Command = {
  words: ['user', 'invite'],
  summary: 'add a user and print their first sign-in link',
  help: `km0 user invite --email ADDRESS --name NAME --role dispatcher|analyst|administrator [--depots ID,…] [--markets NAME,…]

  Without depots and markets the user sees all vans; with them, only the vans of those depots and of the depots that serve those markets.
  ${TAKES}`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { email: text, name: text, role: text, depots: text, markets: text } })
    const { email, name, role } = values
    if (!email?.includes('@') || !name?.trim() || role === undefined) throw new CommandError('say --email, --name and --role')
    const rights = { name: name.trim(), role: roleNamed(role), scope: scopeNamed(values.depots, values.markets) }
    await withSignIn(async (signIn) => {
      const user = await signIn.addUser({ email, ...rights })
      if (user === null) throw new CommandError(`there is a user ${email} already: km0 user link --email ${email}`)
      await noteCommand(signIn, 'users', `name: ${user.name}, email: ${user.email}, role: ${user.role}, scope: ${scopeText(user.scope)}`)
      printLink(await signIn.makeLink(user.email))
    })
    return 0
  },
}
