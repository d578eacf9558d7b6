import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { ACCESS } from '../sign-in/access.ts'
import { answerProblem, ROUTES_WITH_ANSWER } from './answer-check.testbench.ts'
import { openApi } from './open-api-rest.ts'
import { ROUTE_DOCS } from './route-docs.ts'

describe('the description of the interface', () => {
  it('names every route that there is, and no other', () => {
    expect(Object.keys(ROUTE_DOCS).sort()).toEqual(Object.keys(ACCESS).sort())
    const { paths } = openApi()
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(described.sort()).toEqual(Object.keys(ACCESS).sort())
  })

  it('is OpenAPI 3.1, as a validator says that knows nothing of us', async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(JSON.parse(JSON.stringify(openApi())))
    expect(errors ?? []).toEqual([])
    expect(valid).toBe(true)
    expect(validator.version).toBe('3.1')
    expect(answerProblem('GET /api/openapi.json', openApi())).toBeNull()
  })

  it('has the type of each answer in JSON, and of no other', () => {
    const inJson = Object.entries(ROUTE_DOCS).flatMap(([route, { answer = 'json' }]) =>
      ['json', 'geojson', 'events'].includes(answer) ? [route] : [],
    )
    expect(ROUTES_WITH_ANSWER.filter((route) => route !== 'refusal').sort()).toEqual(inJson.sort())
    const panel = openApi().paths['/api/panel']?.get as { responses: Record<string, { content: object }> }
    expect(panel.responses['200']?.content).toEqual({ 'application/json': { schema: { $ref: '#/components/schemas/PanelSnapshot' } } })
  })

  it('a check of answers finds what is missing, of another type, or not told of', () => {
    const actor = { id: '1', name: 'Marta', roles: ['dispatcher'] }
    const mute = { id: 1, kind: 'van', subject: 'a', untilMs: null, note: '', actor, atMs: 1 }
    expect(answerProblem('POST /api/mutes', mute)).toBeNull()
    for (const wrong of [
      { ...mute, atMs: '1' },
      { ...mute, more: 1 },
      { ...mute, kind: 'market' },
      { ...mute, actor: undefined },
    ])
      expect(answerProblem('POST /api/mutes', wrong)).not.toBeNull()
    expect(answerProblem('GET /api/trail', { van: 'a', points: [[2.8, 41.9, 1, 4]] })).not.toBeNull()
    expect(answerProblem('GET /api/nothing', {})).not.toBeNull()
  })

  it('has the schema by which each body is parsed', () => {
    const bodies = Object.entries(openApi().paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) =>
        method === 'post' ? [[path, operation as { requestBody?: object }] as const] : [],
      ),
    )
    expect(bodies.filter(([, { requestBody }]) => requestBody === undefined).map(([path]) => path)).toEqual([])
    expect(JSON.stringify(openApi())).toContain('"enum":["webhook","email","folder"]')
  })
})
