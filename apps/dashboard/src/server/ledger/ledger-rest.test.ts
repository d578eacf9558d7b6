import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { LEDGER_MAX_SPAN_MS, type LedgerRunView } from '@km0/contracts'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../guard.ts'
import { keepSession } from '../sign-in/session.ts'
import { sessionFor } from '../sign-in/sessions.testbench.ts'
import { type LedgerRestOptions, ledgerRoutes } from './ledger-rest.ts'

const NOW = 1_789_380_000_000
const HOUR = 3_600_000
const RUN = { id: 7, state: 'waiting' } as LedgerRunView

class Runs {
  readonly asked: { fromMs: number; toMs: number; actor: unknown }[] = []
  readonly shown: (number | null)[] = []
  full = false
  open = new Set([7])
  async ask(span: { fromMs: number; toMs: number; actor: unknown }) {
    this.asked.push(span)
    return this.full ? null : RUN
  }
  async cancel(id: number) {
    return this.open.delete(id)
  }
  async list() {
    return [RUN]
  }
  async report(id: number | null) {
    this.shown.push(id)
    return null
  }
}

async function call(runs: Runs, method: 'GET' | 'POST', path: string, body?: unknown): Promise<{ status: number; value: unknown }> {
  const routes = ledgerRoutes({ runs: runs as unknown as LedgerRestOptions['runs'], platformNowMs: () => NOW, nowMs: () => NOW + 5 })
  const url = new URL(path, 'http://panel')
  const request = Object.assign(Readable.from(body === undefined ? [] : [Buffer.from(JSON.stringify(body))]), {
    headers: { 'content-type': 'application/json' },
  }) as unknown as IncomingMessage
  keepSession(request, sessionFor('Marta'))
  const answer = { status: 0, value: null as unknown }
  const response = {
    writeHead: (status: number) => {
      answer.status = status
    },
    end: (text: string) => {
      answer.value = JSON.parse(text)
    },
  } as unknown as ServerResponse
  try {
    await routes.get(url.pathname)?.[method]?.(request, response, url)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { status: error.status, value: error.message }
  }
  return answer
}

describe('the ledger over REST', () => {
  it('lists runs and shows the one that is asked for, else the newest', async () => {
    const runs = new Runs()
    expect(await call(runs, 'GET', '/api/ledger')).toEqual({
      status: 200,
      value: { nowMs: NOW + 5, platformNowMs: NOW, runs: [RUN], shown: null },
    })
    await call(runs, 'GET', '/api/ledger?run=12')
    expect(runs.shown).toEqual([null, 12])
    expect((await call(runs, 'GET', '/api/ledger?run=twelve')).status).toBe(400)
  })

  it('asks for a span, without times for the hour that ends now', async () => {
    const runs = new Runs()
    expect((await call(runs, 'POST', '/api/ledger', {})).status).toBe(201)
    expect((await call(runs, 'POST', '/api/ledger', { fromMs: NOW - 5 * HOUR, toMs: NOW - HOUR })).status).toBe(201)
    expect(runs.asked.map(({ fromMs, toMs, actor }) => [NOW - fromMs, NOW - toMs, (actor as { name: string }).name])).toEqual([
      [HOUR, 0, 'Marta'],
      [5 * HOUR, HOUR, 'Marta'],
    ])
  })

  it.each([
    { fromMs: NOW, toMs: NOW },
    { fromMs: NOW, toMs: NOW - 1 },
    { fromMs: NOW - LEDGER_MAX_SPAN_MS - 1, toMs: NOW },
    { fromMs: 'now' },
    { fromMs: 1.5, toMs: NOW },
    { more: 1 },
    [],
  ])('refuses %j', async (body) => {
    const runs = new Runs()
    expect((await call(runs, 'POST', '/api/ledger', body)).status).toBe(400)
    expect(runs.asked).toEqual([])
  })

  it('says when too many wait, and cancels what is open', async () => {
    const runs = new Runs()
    runs.full = true
    expect((await call(runs, 'POST', '/api/ledger', {})).status).toBe(429)
    expect((await call(runs, 'POST', '/api/ledger/cancel', { id: 7 })).status).toBe(200)
    expect((await call(runs, 'POST', '/api/ledger/cancel', { id: 7 })).status).toBe(404)
    expect((await call(runs, 'POST', '/api/ledger/cancel', {})).status).toBe(400)
  })
})
