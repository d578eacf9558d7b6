import { randomBytes, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { CHANNELS, type Channel, type DataOutView, EVENT_KINDS, type Scope, SILENCE_STEPS_MS, type SilenceSteps } from '@km0/contracts'
import { type DataOut, openSecretBox, type SecretBox, SecretsKeyError, type Viewer, WEBHOOK_SECRET } from '@km0/serving'
import { z } from 'zod'
import { Refusal, readBody } from '../guard.ts'
import { type Handler, json, type Routes, sessionOf } from '../rest.ts'

const DELIVERIES_SHOWN = 200
const SUBSCRIPTIONS_MAX = 100

const noControls = (text: string) => !/\p{Cc}/u.test(text)
const name = z.string().trim().min(1).max(80).refine(noControls, 'no control characters')
const webhookUrl = z
  .string()
  .max(2_000)
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'is an address that begins with https:// or http://')
  .refine((text) => !URL.canParse(text) || new URL(text).username === '', 'holds no user name')
const mailAddresses = z
  .string()
  .max(1_000)
  .refine(
    (text) => text.split(',').every((address) => /^[^\s@,;<>"\p{Cc}]+@[^\s@,;<>"\p{Cc}]+$/u.test(address.trim())),
    'is one mail address or more, with commas',
  )

/** What somebody asks for. A report goes by every channel, events by webhook and e-mail. */
export const subscriptionBody = z
  .strictObject({
    name,
    channel: z.enum(CHANNELS),
    target: z.string().trim().max(2_000).refine(noControls, 'no control characters').default(''),
    locale: z.enum(['ca', 'es', 'en']).default('ca'),
    kinds: z.array(z.enum(EVENT_KINDS)).max(EVENT_KINDS.length).default([]),
    leastStepMs: z.number().int().min(60_000).max(86_400_000).default(SILENCE_STEPS_MS[0]),
    reportMinutes: z.number().int().min(0).max(1_439).nullable().default(null),
    /** null: all that the one who asks may see. */
    depots: z.array(z.string().min(1).max(64)).max(200).nullable().default(null),
    markets: z.array(z.string().min(1).max(64)).max(200).nullable().default(null),
  })
  .superRefine((body, context) => {
    const target = body.channel === 'webhook' ? webhookUrl : body.channel === 'email' ? mailAddresses : z.literal('')
    for (const issue of target.safeParse(body.target).error?.issues ?? [])
      context.addIssue({ code: 'custom', path: ['target'], message: issue.message })
    if (body.channel === 'folder' && body.kinds.length > 0)
      context.addIssue({ code: 'custom', path: ['kinds'], message: 'a folder gets reports only' })
    if (body.kinds.length === 0 && body.reportMinutes === null)
      context.addIssue({ code: 'custom', path: ['kinds'], message: 'wants neither events nor a report' })
  })
export const idBody = z.strictObject({ id: z.number().int().min(1) })

export interface SubscriptionsOptions {
  readonly store: Pick<
    DataOut,
    'createSubscription' | 'listSubscriptions' | 'removeSubscription' | 'listDeliveries' | 'sendAgain' | 'addDeliveries'
  >
  /** Seals what signs webhooks. By default there is no key, and nobody can ask for one. */
  readonly secrets?: SecretBox
  /** What the installation can send with, as its batch program is set up. */
  readonly channels: () => Promise<Readonly<Record<Channel, boolean>>>
  /** After how long a silence is told of. */
  readonly silenceStepsMs?: SilenceSteps
  readonly nowMs?: () => number
}

/** Who gets events and reports, and what became of each delivery. Who sees everything sees all subscriptions, others their own. */
export function subscriptionsRoutes({
  store,
  secrets = openSecretBox({}),
  channels,
  silenceStepsMs = SILENCE_STEPS_MS,
  nowMs = Date.now,
}: SubscriptionsOptions): Routes {
  const show: Handler = async (request, response) => {
    const viewer = viewerOf(request)
    const [subscriptions, deliveries, can] = await Promise.all([
      store.listSubscriptions(viewer),
      store.listDeliveries(viewer, DELIVERIES_SHOWN),
      channels(),
    ])
    const view: DataOutView = { nowMs: nowMs(), subscriptions, deliveries, channels: can, silenceStepsMs }
    json(response, 200, view)
  }
  const create: Handler = async (request, response) => {
    const viewer = viewerOf(request)
    const { depots, markets, ...body } = await readBody(request, subscriptionBody)
    if ((await store.listSubscriptions(viewer)).length >= SUBSCRIPTIONS_MAX)
      throw new Refusal(429, `there are ${SUBSCRIPTIONS_MAX} subscriptions already`, 'Take one away that nobody needs.')
    const secret = body.channel === 'webhook' ? randomBytes(24).toString('base64url') : null
    const subscription = await store.createSubscription({
      ...body,
      scope: narrowed(viewer.scope, depots, markets),
      owner: ownerOf(request),
      secret: secret === null ? null : sealed(secrets, secret),
      nowMs: nowMs(),
    })
    // Told this once: what signs a message is shown to nobody later.
    json(response, 201, { subscription, secret })
  }
  const remove: Handler = async (request, response) => {
    const { id } = await readBody(request, idBody)
    if (!(await store.removeSubscription(viewerOf(request), id, nowMs()))) throw unknown('subscription', id)
    json(response, 200, { id })
  }
  const test: Handler = async (request, response) => {
    const { id } = await readBody(request, idBody)
    const known = (await store.listSubscriptions(viewerOf(request))).find((one) => one.id === id)
    if (known === undefined) throw unknown('subscription', id)
    const key = `test/${randomUUID()}`
    await store.addDeliveries([{ subscriptionId: id, key, kind: 'test', body: { kind: 'test', key, atMs: nowMs() } }], nowMs())
    json(response, 202, { key })
  }
  const again: Handler = async (request, response) => {
    const { id } = await readBody(request, idBody)
    if (!(await store.sendAgain(viewerOf(request), id))) throw unknown('delivery that is over', id)
    json(response, 202, { id })
  }
  return new Map([
    ['/api/subscriptions', { GET: show, POST: create }],
    ['/api/subscriptions/remove', { POST: remove }],
    ['/api/subscriptions/test', { POST: test }],
    ['/api/deliveries/again', { POST: again }],
  ])
}

const unknown = (what: string, id: number) =>
  new Refusal(404, `there is no ${what} ${id}`, 'GET /api/subscriptions lists those that there are.')

function ownerOf(request: IncomingMessage) {
  const { operator } = sessionOf(request)
  if (operator === null) throw new Refusal(401, 'nobody has said who they are', 'Sign in first.')
  return operator
}

function viewerOf(request: IncomingMessage): Viewer {
  return { scope: sessionOf(request).scope, owner: ownerOf(request).id }
}

/** What was asked for, within what the one who asks may see. Throws a Refusal (403) beyond it. */
function narrowed(scope: Scope, depots: readonly string[] | null, markets: readonly string[] | null): Scope {
  if (depots === null && markets === null) return scope
  if (scope.kind === 'limited') {
    const beyond = [
      ...(depots ?? []).filter((id) => !scope.depots.includes(id)),
      ...(markets ?? []).filter((id) => !scope.markets.includes(id)),
    ]
    if (beyond.length > 0) throw new Refusal(403, `${beyond.join(', ')} is not yours to see`, 'Ask for depots and markets that you see.')
  }
  return { kind: 'limited', depots: depots ?? [], markets: markets ?? [] }
}

/** As it may stand in the store. Throws a Refusal where no key is set: none stands there as it is. */
function sealed(secrets: SecretBox, secret: string): string {
  try {
    return secrets.seal(secret, WEBHOOK_SECRET)
  } catch (error) {
    if (!(error instanceof SecretsKeyError)) throw error
    throw new Refusal(503, 'the secret of a webhook cannot be kept', error.message)
  }
}
