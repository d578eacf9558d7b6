import { type AuditPage, EVERYTHING, isName, PERSON_ROLES, type UsersView } from '@km0/contracts'
import type { SignIn } from '@km0/signin'
import { z } from 'zod'
import { Refusal, readBody } from '../guard.ts'
import { type Handler, json, type Routes, sessionOf } from '../rest.ts'

const AUDIT_PAGE = 50

const personName = z
  .string()
  .trim()
  .min(1, 'a name is needed')
  .max(60, 'at most 60 characters')
  .refine((name) => ![...name].some((character) => character < ' '), 'no control characters')
const places = z.array(z.string().refine(isName, 'is no name')).max(500)
const scope = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('all') }),
  z.strictObject({ kind: z.literal('limited'), depots: places, markets: places }),
])
const role = z.enum(PERSON_ROLES)
const id = z.string().min(1).max(64).refine(isName, 'is no id')

export const addBody = z.strictObject({ name: personName, email: z.email().max(200), role, scope })
export const changeBody = z.strictObject({
  id,
  name: personName.optional(),
  role: role.optional(),
  scope: scope.optional(),
  revoked: z.boolean().optional(),
})
export const linkBody = z.strictObject({ id })
export const keyBody = z.strictObject({ kind: z.enum(['wall', 'token']), name: personName, scope, masked: z.boolean().default(false) })
export const revokeBody = z.strictObject({ id: z.number().int().min(1) })

export interface UsersRestOptions {
  readonly signIn: Pick<SignIn, 'addUser' | 'makeLink' | 'makeKey'> & {
    readonly store: Pick<
      SignIn['store'],
      'listUsers' | 'listKeys' | 'places' | 'findUser' | 'changeUser' | 'revokeKey' | 'readAudit' | 'auditActions'
    >
  }
  /** What is in memory of sessions holds no more: sockets of whoever was put out are closed. */
  readonly changed: () => void
  readonly nowMs: () => number
}

/** The REST interface of administrators: users, keys of wall screens and programs, and the audit. */
export function usersRoutes(options: UsersRestOptions): Routes {
  const { signIn, changed, nowMs } = options
  const { store } = signIn
  const list: Handler = async (_request, response) => {
    const [users, keys, known] = await Promise.all([store.listUsers(), store.listKeys(), store.places(EVERYTHING)])
    json(response, 200, { nowMs: nowMs(), users, keys, ...known } satisfies UsersView)
  }
  const add: Handler = async (request, response) => {
    const user = await signIn.addUser(await readBody(request, addBody))
    if (user === null) throw new Refusal(409, 'there is a user with this address', 'Change that one, or make a new link for them.')
    json(response, 201, { user, link: await signIn.makeLink(user.email) })
  }
  const change: Handler = async (request, response) => {
    const { id: who, revoked, ...rest } = await readBody(request, changeBody)
    const user = await store.changeUser(who, {
      ...given(rest),
      ...(revoked === undefined ? {} : { revokedAtMs: revoked ? nowMs() : null }),
    })
    if (user === 'unknown') throw unknownUser()
    if (user === 'last administrator')
      throw new Refusal(409, 'then nobody could administer any more', 'Make somebody else an administrator first.')
    changed()
    json(response, 200, user)
  }
  const link: Handler = async (request, response) => {
    const user = await store.findUser(await readBody(request, linkBody))
    if (user === null) throw unknownUser()
    if (user.revokedAtMs !== null) throw new Refusal(409, 'this user may not come in', 'Let them in again first.')
    json(response, 201, await signIn.makeLink(user.email))
  }
  const addKey: Handler = async (request, response) => {
    const key = await readBody(request, keyBody)
    json(response, 201, await signIn.makeKey({ ...key, createdBy: sessionOf(request).operator.name }))
  }
  const revokeKey: Handler = async (request, response) => {
    const { id: which } = await readBody(request, revokeBody)
    if (!(await store.revokeKey(which, nowMs()))) throw new Refusal(404, 'no such key is in force', 'GET /api/users lists those that are.')
    changed()
    json(response, 200, { id: which })
  }
  return new Map<string, Readonly<Record<string, Handler>>>([
    ['/api/users', { GET: list, POST: add }],
    ['/api/users/change', { POST: change }],
    ['/api/users/link', { POST: link }],
    ['/api/keys', { POST: addKey }],
    ['/api/keys/revoke', { POST: revokeKey }],
    ['/api/audit', { GET: audit(options) }],
  ])
}

function audit({ signIn: { store }, nowMs }: UsersRestOptions): Handler {
  return async (_request, response, url) => {
    const before = url.searchParams.get('before')
    if (before !== null && !/^\d{1,15}$/.test(before)) throw new Refusal(400, 'before is no number', 'Take `next` of the page before.')
    const words = (name: string) => url.searchParams.get(name)?.replaceAll('\0', '').slice(0, 100) || null
    const [entries, actions] = await Promise.all([
      store.readAudit({
        before: before === null ? null : Number(before),
        actor: words('actor'),
        action: words('action'),
        limit: AUDIT_PAGE + 1,
      }),
      store.auditActions(),
    ])
    const page = entries.slice(0, AUDIT_PAGE)
    json(response, 200, {
      nowMs: nowMs(),
      entries: page,
      next: entries.length > AUDIT_PAGE ? (page.at(-1)?.id ?? null) : null,
      actions,
    } satisfies AuditPage)
  }
}

/** Without what is undefined. */
function given<Value extends object>(value: Value): { [Key in keyof Value]?: Exclude<Value[Key], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as never
}

const unknownUser = () => new Refusal(404, 'there is no such user', 'GET /api/users lists those that are there.')
