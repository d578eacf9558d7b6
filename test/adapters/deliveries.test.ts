import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EVERYTHING, madridDay } from '@km0/contracts'
import { type DataOut, makeSecretsKeyFile, openDataOut, openServing, rotateSecretsKey } from '@km0/serving'
import { startServices, type TestServices } from '@km0/testkit/services'
import pg from 'pg'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { signatureOf } from '../../apps/batch/src/deliveries/send-webhook.ts'
import { BatchProcess, buildBatch, until } from './batch-process.ts'

/** The batch program sends events and reports to a real HTTP server, a real mail server and a folder, and is killed meanwhile. */

const MARTA = { id: 'user:marta', name: 'Marta', roles: ['administrator'] }
const VIEWER = { scope: EVERYTHING, owner: MARTA.id }
const DAY_MS = 86_400_000

interface Received {
  readonly key: string
  readonly attempt: number
  readonly signature: string
  readonly type: string
  readonly body: string
}

let services: TestServices<{ postgres: true; redis: true }>
let out: DataOut
let pool: pg.Pool
let batch: BatchProcess | undefined
let hook: Server
let mail: SMTPServer
let folder: string
const received: Received[] = []
const mails: string[] = []
/** What the webhook answers to a message. */
let answer: (message: Received) => number = () => 204
let mailRefuses = 0

const portOf = (server: { address(): AddressInfo | string | null }) => (server.address() as AddressInfo).port
const start = (changes: Record<string, string> = {}) =>
  BatchProcess.start(services, 'deliveries', {
    KM0_DELIVERY_POLL_MS: '50',
    KM0_DELIVERY_BACKOFF_MS: '50',
    KM0_DELIVERY_ATTEMPTS: '4',
    KM0_DELIVERY_CHECK_MS: '500',
    KM0_WEBHOOK_PRIVATE: 'true',
    KM0_SMTP_URL: `smtp://127.0.0.1:${portOf(mail.server)}`,
    KM0_REPORT_DIR: folder,
    KM0_SECRETS_KEY_FILE: `${folder}.keys`,
    KM0_BATCH_LOCK_MS: '1000',
    KM0_RETENTION_EVERY_MS: '500',
    ...changes,
  })
const subscribe = (more: Partial<Parameters<DataOut['createSubscription']>[0]> = {}) =>
  out.createSubscription({
    ...{ name: 'Torn de matí', channel: 'webhook', target: `http://127.0.0.1:${portOf(hook)}/avisos`, locale: 'ca', kinds: ['returned'] },
    ...{ leastStepMs: 180_000, reportMinutes: null, scope: EVERYTHING, owner: MARTA, secret: 'clau', nowMs: Date.now(), ...more },
  })
const tell = async (count: number, word: string) => {
  const nowMs = Date.now()
  await pool.query(
    `select km0.tell('returned/' || $1 || n || '/' || $2::bigint, 'returned', $1 || n, null, null, $2, jsonb_build_object('sinceMs', $2 - 600000, 'endedMs', $2), $2)
     from generate_series(1, $3) n`,
    [word, nowMs, count],
  )
}
const states = async () => {
  const rows = await out.listDeliveries(VIEWER, 1_000)
  return (state: string) => rows.filter((row) => row.state === state).length
}

beforeAll(async () => {
  services = await startServices({ postgres: true, redis: true })
  buildBatch()
  const options = { databaseUrl: services.postgres.url, applicationName: 'test' }
  const serving = openServing(options)
  await serving.migrate()
  await serving.importVans([
    { line: 1, row: { van: 'furgoneta-3', name: '=Rocinante', plate: null, depotId: null, inServiceFromMs: null, inServiceToMs: null } },
  ])
  await serving.close()
  out = openDataOut(options)
  pool = new pg.Pool({ connectionString: services.postgres.url, max: 1 })
  // The server stops before the pool's idle connection has.
  pool.on('error', () => undefined)
  await pool.query(
    `insert into km0.sign_in_user (id, name, email, role, all_vans) values ($1, 'Marta', 'marta@example.cat', 'administrator', true)`,
    [MARTA.id],
  )
  folder = await mkdtemp(join(tmpdir(), 'km0-reports-'))
  makeSecretsKeyFile(`${folder}.keys`)
  hook = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      const header = (name: string) => String(request.headers[name] ?? '')
      const message = {
        ...{ key: decodeURIComponent(header('km0-key')), attempt: Number(header('km0-attempt')), signature: header('km0-signature') },
        ...{ type: header('content-type'), body },
      }
      received.push(message)
      response.writeHead(answer(message)).end('ok')
    })
  })
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  mail = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    onData(stream, _session, callback) {
      let text = ''
      stream.on('data', (chunk) => (text += chunk))
      stream.on('end', () => {
        mailRefuses -= 1
        if (mailRefuses >= 0) return callback(Object.assign(new Error('try later'), { responseCode: 451 }))
        mails.push(text)
        callback()
      })
    },
  })
  await new Promise<void>((resolve) => mail.listen(0, '127.0.0.1', () => resolve()))
})
afterAll(async () => {
  await batch?.stop()
  hook?.close()
  await new Promise<void>((resolve) => (mail === undefined ? resolve() : mail.close(resolve)))
  await out?.close()
  await pool?.end()
  await services?.stop()
  if (folder !== undefined) for (const path of [folder, `${folder}.keys`]) await rm(path, { recursive: true, force: true })
})

it('sends each event once, signed, tries again what was not taken, and gives up in the end', async () => {
  await subscribe()
  answer = ({ key, attempt }) => (key.startsWith('returned/bad') ? 500 : key.startsWith('returned/slow') && attempt < 3 ? 503 : 204)
  batch = await start()
  await tell(1, 'good')
  await tell(1, 'slow')
  await tell(1, 'bad')
  await until('two are sent and one is dead', async () => {
    const count = await states()
    return count('sent') === 2 && count('dead') === 1
  })
  const triesOf = (word: string) => received.filter(({ key }) => key.startsWith(`returned/${word}`)).map(({ attempt }) => attempt)
  expect([triesOf('good'), triesOf('slow'), triesOf('bad')]).toEqual([[1], [1, 2, 3], [1, 2, 3, 4]])
  const [good] = received.filter(({ key }) => key.startsWith('returned/good'))
  expect(JSON.parse(good!.body)).toMatchObject({ kind: 'returned', van: 'good1', key: good!.key })
  const seconds = Number(/^t=(\d+),/.exec(good!.signature)?.[1])
  expect(good!.signature).toBe(signatureOf('clau', good!.body, seconds))
  // A secret that stood in the store as it is was sealed at the start; a new key changes nothing for whoever checks signatures.
  const kept = async () => (await pool.query('select secret from km0.subscription')).rows.map(({ secret }) => String(secret))
  const sealed = await kept()
  expect(sealed).toEqual([expect.stringMatching(/^sealed:1:/)])
  expect(await rotateSecretsKey(`${folder}.keys`, { databaseUrl: services.postgres.url, applicationName: 'test' })).toBe(1)
  expect((await kept())[0]?.slice(0, 20)).not.toBe(sealed[0]?.slice(0, 20))
  // Somebody has mended the receiver and has it sent again: the same key.
  answer = () => 204
  const dead = (await out.listDeliveries(VIEWER, 10)).find(({ state }) => state === 'dead')
  expect(dead?.answer).toBe('500 ok')
  expect(await out.sendAgain(VIEWER, dead!.id)).toBe(true)
  await until('it is sent', async () => (await states())('sent') === 3)
  expect(triesOf('bad')).toEqual([1, 2, 3, 4, 1])
  const again = received.findLast(({ key }) => key === dead!.key)
  expect(again?.signature).toBe(signatureOf('clau', again!.body, Number(/^t=(\d+),/.exec(again!.signature)?.[1])))
})

it('loses none and stores none twice when it is killed, and when the queue loses everything', async () => {
  received.length = 0
  answer = () => 204
  await tell(60, 'kill')
  await until('some have come', () => received.length > 10)
  await batch!.kill9()
  const redis = services.redis
  await tell(20, 'more')
  await redis.kill9()
  await services.restart('redis')
  batch = await start()
  await until('all are sent', async () => (await states())('sent') === 83)
  const keys = new Set(received.map(({ key }) => key))
  expect(keys.size).toBe(80)
  // What was under way when it was killed may come once more, with its key: at most as many as are sent at a time.
  expect(received.length - keys.size).toBeLessThanOrEqual(4)
})

it('deletes what is too old meanwhile, after the queue has lost its clock too, and says so in the audit', async () => {
  await pool.query(
    `insert into km0.audit (at_ms, actor_name, action, detail, address) values (0, 'old', 'x', '', ''), ($1, 'new', 'x', '', '')`,
    [Date.now()],
  )
  await until('the old entry is gone, and that is noted', async () => {
    const { rows } = await pool.query('select actor_name as name from km0.audit order by at_ms')
    return rows.map(({ name }) => name).join() === 'new,km0:retention'
  })
})

it('sends e-mail once the mail server takes it, and reports that were missed once each, to file, mail and webhook', async () => {
  received.length = 0
  mailRefuses = 1
  const yesterday = madridDay(madridDay(Date.now()).startMs - DAY_MS / 2)
  const report = { kinds: [], reportMinutes: 0, nowMs: yesterday.endMs - 2.5 * DAY_MS }
  await subscribe({ ...report, channel: 'folder', target: '', name: 'Carpeta' })
  await subscribe({ ...report, channel: 'email', target: 'cap@example.com', name: 'Correu', nowMs: yesterday.endMs - 1 })
  await subscribe({ ...report, name: 'Ganxo', nowMs: yesterday.endMs - 1 })
  await subscribe({ channel: 'email', target: 'torn@example.com, nit@example.com', name: 'Torn' })
  await tell(1, 'mail')
  await until('both mails are there', () => mails.length === 2, 30_000)
  await until('the files are there', async () => (await readdir(folder)).length === 3, 30_000)
  await until('the webhook has its report', () => received.some(({ type }) => type.startsWith('text/csv')))
  const name = new Date(yesterday.startMs + DAY_MS / 2).toISOString().slice(0, 10)
  const csv = await readFile(join(folder, `carpeta-${name}.csv`), 'utf8')
  expect(csv).toContain(`furgoneta-3,'=Rocinante,,,${name},0.000,0,0,0,0,0,\r\n`)
  expect(received.find(({ type }) => type.startsWith('text/csv'))).toMatchObject({ key: `report/${name}`, body: csv })
  const [news, attached] = [mails.find((text) => /mail1/.test(text)), mails.find((text) => /text\/csv/.test(text))]
  expect(news).toMatch(/To: torn@example\.com, nit@example\.com/)
  expect(news).toMatch(/Message-ID: <[0-9a-f]{32}@quilometre-zero>/i)
  expect(attached).toContain(`correu-${name}.csv`)
  await batch!.stop()
  batch = await start({ KM0_WEBHOOK_PRIVATE: 'false' })
  await tell(1, 'inside')
  await until('the one that may not go there is dead', async () => (await states())('dead') === 1)
  expect((await out.listDeliveries(VIEWER, 10)).find(({ state }) => state === 'dead')).toMatchObject({
    attempts: 1,
    answer: '127.0.0.1 is 127.0.0.1, which is no public address; KM0_WEBHOOK_PRIVATE=true allows it',
  })
  expect((await readdir(folder)).length).toBe(3)
})
