import { z } from 'zod'
import { json, type Routes } from '../rest.ts'
import { ACCESS, type Access } from '../sign-in/access.ts'
import schemas from './answers.schema.json' with { type: 'json' }
import type { Answers } from './answers.ts'
import { ROUTE_DOCS, type RouteDoc } from './route-docs.ts'

/** A type without its schema does not compile: then scripts/answers.mjs has not been run. */
const ANSWERS: Readonly<Record<keyof Answers, object>> = schemas.answers

const MEDIA = {
  json: 'application/json',
  csv: 'text/csv',
  geojson: 'application/geo+json',
  events: 'text/event-stream',
  text: 'text/plain',
  binary: 'application/octet-stream',
} as const

/** GET /api/openapi.json: the interface, described by the tables and schemas that the server itself goes by. */
export function openApiRoutes(): Routes {
  return new Map([['/api/openapi.json', { GET: (_request, response) => json(response, 200, openApi()) }]])
}

/** OpenAPI 3.1 of every route that ACCESS names. */
export function openApi(): { readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>> } & Record<string, unknown> {
  const paths: Record<string, Record<string, object>> = {}
  for (const [route, access] of Object.entries(ACCESS)) {
    const [method = '', path = ''] = route.split(' ')
    const doc = ROUTE_DOCS[route]
    if (doc !== undefined) paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(route, doc, access) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quilòmetre Zero',
      version: '1',
      description:
        'The panel. Distances are in mm or m, times in ms since 1970 (UTC) or ISO 8601; what is answered is of the vans that whoever asks may see, and may come to have more members. Ask with "Authorization: Bearer TOKEN"; administrators make tokens on /usuaris.',
    },
    servers: [{ url: '/' }],
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: open(schemas.schemas) as Readonly<Record<string, object>>,
    },
    paths,
  }
}

function operationOf(route: string, doc: RouteDoc, access: Access): object {
  const { answer = 'json', status = 200 } = doc
  const error = {
    description: 'refused, with what to do',
    content: { 'application/json': { schema: schemas.answers.refusal } },
  }
  const inJson = route in ANSWERS ? ANSWERS[route as keyof Answers] : undefined
  const schema = inJson === undefined ? { type: 'string' } : open(inJson)
  const done = { description: 'done', ...(answer === 'redirect' ? {} : { content: { [MEDIA[answer]]: { schema } } }) }
  return {
    operationId: route.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'),
    summary: doc.summary,
    description: whoMay(access),
    security: access.needs === 'open' ? [] : [{ token: [] }],
    ...(doc.query === undefined ? {} : { parameters: Object.entries(doc.query).map(parameterOf) }),
    ...(doc.body === undefined ? {} : { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(doc.body) } } } }),
    responses: {
      ...Object.fromEntries([status].flat().map((one) => [one, done])),
      default: error,
    },
  }
}

function parameterOf([name, description]: readonly [string, string]): object {
  const required = name.endsWith('!')
  return { name: required ? name.slice(0, -1) : name, in: 'query', required, description, schema: { type: 'string' } }
}

/** Answers may come to say more than they do: whoever reads them leaves what they do not know. */
function open(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(open)
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).filter(([key, value]) => key !== 'additionalProperties' || value !== false)
  return Object.fromEntries(entries.map(([key, value]) => [key, open(value)]))
}

/** As it is sent, before anything is trimmed or filled in. What only code can check is left to the words of a refusal. */
function schemaOf(schema: z.ZodType): object {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return rest
}

const WHO = {
  open: 'For everybody',
  any: 'For whoever is signed in, tokens and wall screens too',
  person: 'For people who are signed in',
} as const

function whoMay({ needs, vans }: Access): string {
  const who = needs in WHO ? WHO[needs as keyof typeof WHO] : `For the role ${needs}`
  const what = vans === 'scoped' ? ' Of the vans that they may see.' : vans === 'all' ? ' Only for those who see everything.' : ''
  return `${who}.${what}`
}
