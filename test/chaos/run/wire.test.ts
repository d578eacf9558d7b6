import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Wire } from './wire.ts'

let server: Server
let wire: Wire
const heard: string[] = []

beforeEach(async () => {
  heard.length = 0
  server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      heard.push(chunk.toString())
      socket.write(`got ${chunk}`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  wire = await Wire.open()
  wire.leadTo((server.address() as { port: number }).port)
})
afterEach(async () => {
  await wire.close()
  server.close()
})

async function client(): Promise<{ socket: Socket; next: () => Promise<string>; ended: Promise<void> }> {
  const socket = connect({ port: wire.port, host: '127.0.0.1' })
  socket.on('error', () => undefined)
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
  return { socket, ended, next: () => new Promise((resolve) => socket.once('data', (chunk) => resolve(chunk.toString()))) }
}

it('carries bytes both ways, and hangs up when it is cut', async () => {
  const { socket, next, ended } = await client()
  socket.write('a')
  expect(await next()).toBe('got a')
  wire.refuse()
  await ended
  const late = await client()
  await late.ended
  wire.mend()
  const again = await client()
  again.socket.write('b')
  expect(await again.next()).toBe('got b')
  again.socket.destroy()
})

it('keeps connections and carries nothing while it is silent', async () => {
  const old = await client()
  old.socket.write('a')
  expect(await old.next()).toBe('got a')
  wire.silence()
  const young = await client()
  const answers = [old.next(), young.next()]
  old.socket.write('b')
  young.socket.write('c')
  const first = await Promise.race([...answers, new Promise((resolve) => setTimeout(resolve, 300, 'nothing'))])
  expect(first).toBe('nothing')
  expect(heard).toEqual(['a'])
  wire.mend()
  expect((await Promise.all(answers)).sort()).toEqual(['got b', 'got c'])
  for (const { socket } of [old, young]) socket.destroy()
})
