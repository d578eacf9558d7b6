import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** Where the services of a running platform are. */
export interface Addresses {
  readonly brokers: readonly string[]
  readonly databaseUrl: string
}

/** No platform was found. The message says what to do. */
export class AddressesError extends Error {
  override readonly name = 'AddressesError'
}

/** What `npm start` says of itself in its data folder. */
const runFile = z.object({ pid: z.number().int(), kafkaBrokers: z.string().min(1), databaseUrl: z.string().min(1) })

const DATA_FOLDER = '.km0'
const RUN_FILE = 'run.json'

/**
 * The addresses of KAFKA_BROKERS and DATABASE_URL, and for what is not set those of the platform that `npm start` runs in `folder`.
 * Throws AddressesError when there is none, or more than one.
 */
export function findAddresses(environment: Readonly<Record<string, string | undefined>>, folder = DATA_FOLDER): Addresses {
  const brokers = environment.KAFKA_BROKERS
  const databaseUrl = environment.DATABASE_URL
  if (brokers && databaseUrl) return { brokers: splitBrokers(brokers), databaseUrl }
  const running = runFilesIn(folder).filter((run) => isAlive(run.pid))
  const [run] = running
  if (run === undefined) {
    throw new AddressesError(`nothing runs here: start the platform with \`npm start\`, or set KAFKA_BROKERS and DATABASE_URL`)
  }
  if (running.length > 1) {
    throw new AddressesError(
      `${running.length} platforms run below ${folder}: set KAFKA_BROKERS and DATABASE_URL to say which one is meant`,
    )
  }
  return { brokers: splitBrokers(brokers || run.kafkaBrokers), databaseUrl: databaseUrl || run.databaseUrl }
}

const splitBrokers = (text: string) => text.split(',').map((part) => part.trim())

/** Run files of the folder and of the folders in it: each played recording has one of its own. */
function runFilesIn(folder: string): z.infer<typeof runFile>[] {
  if (!existsSync(folder)) return []
  const folders = [
    folder,
    ...readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [join(folder, entry.name)] : [])),
  ]
  return folders.flatMap((candidate) => {
    try {
      const parsed = runFile.safeParse(JSON.parse(readFileSync(join(candidate, RUN_FILE), 'utf8')))
      return parsed.success ? [parsed.data] : []
    } catch {
      // Not there, or half written: this folder tells nothing.
      return []
    }
  })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
