import { parseArgs } from 'node:util'
import type { SignIn } from '@km0/signin'
import { type Command, CommandError } from './command.ts'
import { asTable } from './lake-sql.ts'
import { noteCommand, roleNamed, scopeNamed, scopeText, userNamed, withSignIn } from './user-open.ts'

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const TAKES = 'Takes DATABASE_URL, or the platform that `npm start` runs here.'
const when = (ms: number | null) => (ms === null ? '–' : `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`)

export const userList: Command = {
  words: ['user', 'list'],
  summary: 'list users, wall screens and tokens',
  help: `km0 user list\n\n  Users with their role and what they see, then keys of wall screens and programs.\n  ${TAKES}`,
  run: async (args) => {
    parseArgs({ args: [...args], options: {} })
    const { users, keys } = await withSignIn(async ({ store }) => ({ users: await store.listUsers(), keys: await store.listKeys() }))
    const people = asTable({
      columns: ['email', 'name', 'role', 'sees', 'last sign-in', 'access'],
      rows: users.map((user) => [
        user.email,
        user.name,
        user.role,
        scopeText(user.scope),
        when(user.lastSignInAtMs),
        user.revokedAtMs === null ? 'yes' : `none since ${when(user.revokedAtMs)}`,
      ]),
    })
    const rows = keys.map((key) => [
      String(key.id),
      key.kind,
      key.name,
      `${key.hint}…`,
      `${scopeText(key.scope)}${key.masked ? ', masked' : ''}`,
      when(key.lastUsedAtMs),
      key.revokedAtMs === null ? 'yes' : `none since ${when(key.revokedAtMs)}`,
    ])
    const table = asTable({ columns: ['key', 'kind', 'name', 'begins', 'sees', 'last used', 'access'], rows })
    process.stdout.write(rows.length === 0 ? people : `${people}\n${table}`)
    return 0
  },
}

/** A command that changes one user. */
function changing(options: {
  readonly words: readonly string[]
  readonly summary: string
  readonly usage: string
  readonly change: (given: Readonly<Record<string, string | undefined>>) => Parameters<SignIn['store']['changeUser']>[1]
}): Command {
  return {
    words: options.words,
    summary: options.summary,
    help: `km0 ${options.words.join(' ')} --email ADDRESS ${options.usage}\n\n  ${options.summary}; whoever is signed in feels it within seconds.\n  ${TAKES}`,
    run: async (args) => {
      const { values } = parseArgs({ args: [...args], options: { email: text, role: text, depots: text, markets: text } })
      const change = options.change(values)
      await withSignIn(async (signIn) => {
        const { id, email } = await userNamed(signIn, values.email)
        const changed = await signIn.store.changeUser(id, change)
        if (changed === 'last administrator') throw new CommandError('then nobody could administer any more')
        if (changed === 'unknown') throw new CommandError(`there is no user ${email} any more`)
        await noteCommand(signIn, 'users/change', `email: ${email}, ${options.words[1]}: ${changed.role}, ${scopeText(changed.scope)}`)
        process.stdout.write(
          `${email}: ${changed.role}, sees ${scopeText(changed.scope)}${changed.revokedAtMs === null ? '' : ', no access'}\n`,
        )
      })
      return 0
    },
  }
}

export const userRole = changing({
  words: ['user', 'role'],
  summary: 'give a user another role',
  usage: '--role dispatcher|analyst|administrator',
  change: ({ role }) => {
    if (role === undefined) throw new CommandError('say --role')
    return { role: roleNamed(role) }
  },
})

export const userDepots = changing({
  words: ['user', 'depots'],
  summary: 'say which depots and markets a user sees; without any, all vans',
  usage: '[--depots ID,…] [--markets NAME,…]',
  change: ({ depots, markets }) => ({ scope: scopeNamed(depots, markets) }),
})

export const userRevoke = changing({
  words: ['user', 'revoke'],
  summary: 'let a user in no more, and end their sessions',
  usage: '',
  change: () => ({ revokedAtMs: Date.now() }),
})

export const userRestore = changing({
  words: ['user', 'restore'],
  summary: 'let a user in again',
  usage: '',
  change: () => ({ revokedAtMs: null }),
})

export const userToken: Command = {
  words: ['user', 'token'],
  summary: 'make an API token or a wall screen link, or revoke one',
  help: `km0 user token --name NAME [--wall] [--masked] [--depots ID,…] [--markets NAME,…]
km0 user token --revoke KEY

  Prints a token that a program sends as "Authorization: Bearer TOKEN"; it can only read. With --wall it is the key of a wall screen, for
  /paret?clau=KEY. It is shown once. With --masked it sees pseudonyms of vans, and places on a grid (docs/personal-data.md). \`km0 user list\` shows the numbers to revoke by.
  ${TAKES}`,
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: { name: text, wall: flag, masked: flag, depots: text, markets: text, revoke: text },
    })
    await withSignIn(async (signIn) => {
      if (values.revoke !== undefined) {
        const id = Number(values.revoke)
        if (!Number.isInteger(id) || !(await signIn.store.revokeKey(id, Date.now())))
          throw new CommandError(`no key ${values.revoke} is in force`)
        await noteCommand(signIn, 'keys/revoke', `id: ${id}`)
        process.stdout.write(`key ${id} lets nobody in any more\n`)
        return
      }
      if (!values.name?.trim()) throw new CommandError('say --name: who or what uses it')
      const kind = values.wall ? 'wall' : 'token'
      const scope = scopeNamed(values.depots, values.markets)
      const { secret } = await signIn.makeKey({ kind, name: values.name.trim(), scope, masked: values.masked, createdBy: 'km0' })
      await noteCommand(
        signIn,
        'keys',
        `kind: ${kind}, name: ${values.name.trim()}, scope: ${scopeText(scope)}${values.masked ? ', masked' : ''}`,
      )
      process.stdout.write(`${secret}\n`)
    })
    return 0
  },
}
