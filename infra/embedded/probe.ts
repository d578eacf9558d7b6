import { createConnection } from 'node:net'

const PROBE_TIMEOUT_MS = 1_000

/**
 * Connects to 127.0.0.1:port, sends `request` and resolves to what `answered` says of the bytes that came back;
 * false when nobody listens, nothing comes within a second or the other side hangs up.
 */
export function probe(port: number, request: Buffer, answered: (answer: Buffer) => boolean, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host })
    const chunks: Buffer[] = []
    const finish = (result: boolean) => {
      socket.destroy()
      resolve(result)
    }
    socket.setTimeout(PROBE_TIMEOUT_MS, () => finish(false))
    socket.on('connect', () => socket.write(request))
    socket.on('error', () => finish(false))
    socket.on('close', () => finish(false))
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      const answer = Buffer.concat(chunks)
      if (answer.length > 0) finish(answered(answer))
    })
  })
}

/** CONNECT (MQTT 3.1.1, clean session) of client `km0-probe`; any CONNACK says that it lives, a refusal too. */
const CONNECT = Buffer.from('\x10\x15\0\x04MQTT\x04\x02\0\x05\0\x09km0-probe', 'latin1')
const CONNACK = 0x20

/** Whether an MQTT broker answers at the port. */
export const isBrokerReady = (port: number) => probe(port, CONNECT, (answer) => answer[0] === CONNACK)
