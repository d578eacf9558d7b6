import { readFileSync } from 'node:fs'
import { parseEnvironment } from '@km0/runtime'
import { z } from 'zod'
import { CommandError } from './command.ts'

/** Settings of the commands that change who may publish. */
export const brokerEnvironment = z.object({
  KM0_BROKER_ACCOUNTS: z.string().min(1).optional().describe("folder of the broker's password file and access list"),
  KM0_BROKER_PID_FILE: z.string().min(1).optional().describe('file with the process id of a mosquitto that is told to read them again'),
  KM0_MQTT_PUBLIC: z
    .string()
    .regex(/^[^\s:/@]+:\d+$/, 'write host:port')
    .default('127.0.0.1:1883')
    .describe('address of the broker as vans and phones reach it'),
  KM0_MQTT_PUBLIC_TLS: z.stringbool().default(false).describe('that address speaks TLS'),
})

type Environment = Readonly<Record<string, string | undefined>>

/** Folder of the accounts. Throws CommandError when it is not named. */
export function accountsFolder(environment: Environment): string {
  const { KM0_BROKER_ACCOUNTS: folder } = parseEnvironment(brokerEnvironment, environment)
  if (folder !== undefined) return folder
  throw new CommandError(
    "KM0_BROKER_ACCOUNTS must name the folder of the broker's accounts. With containers: docker compose run --rm km0 van …; `npm start` asks vans for no password, as its broker listens on this machine alone",
  )
}

/**
 * Tells a mosquitto of this machine to read its accounts again, when KM0_BROKER_PID_FILE names it: connections stay, except that what they may
 * do is asked anew. The broker of the containers looks for itself.
 */
export function reloadBroker(environment: Environment): void {
  const { KM0_BROKER_PID_FILE: file } = parseEnvironment(brokerEnvironment, environment)
  if (file === undefined) return
  const pid = Number(readFileSync(file, 'utf8').trim())
  if (!Number.isInteger(pid) || pid < 2) throw new CommandError(`${file} holds no process id`)
  process.kill(pid, 'SIGHUP')
}
