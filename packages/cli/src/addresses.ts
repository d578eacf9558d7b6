import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectionVariables } from '@km0/runtime'
import { z } from 'zod'

/** No platform was found. The message says what to do. */
export class AddressesError extends Error {
  override readonly name = 'AddressesError'
}

/** What `npm start` says of itself in its data folder. */
const runFile = z.object({
  pid: z.number().int(),
  kafkaBrokers: z.string().min(1),
  databaseUrl: z.string().min(1),
  redisUrl: z.string().min(1),
  mqttUrl: z.string().min(1).optional(),
  /** Of the panel; not there until it is ready. */
  url: z.string().optional(),
})

const DATA_FOLDER = '.km0'
const RUN_FILE = 'run.json'

type Environment = Readonly<Record<string, string | undefined>>

/** The environment with the credentials, certificates and files that are set for its addresses. Throws AddressesError with a line for each that is wrong. */
function connected(environment: Environment): Environment {
  const wrong: string[] = []
  const variables = connectionVariables(environment, wrong)
  if (wrong.length > 0) throw new AddressesError(`settings from the environment are wrong:\n  ${wrong.join('\n  ')}`)
  return variables
}

/** KAFKA_BROKERS, else the log of the platform that `npm start` runs in `folder`. Throws AddressesError. */
export function findBrokers(environment: Environment, folder = DATA_FOLDER): readonly string[] {
  return splitBrokers(connected(environment).KAFKA_BROKERS || theRunning(folder, 'KAFKA_BROKERS').kafkaBrokers)
}

/** DATABASE_URL, else the database of the platform that `npm start` runs in `folder`. Throws AddressesError. */
export function findDatabaseUrl(environment: Environment, folder = DATA_FOLDER): string {
  return connected(environment).DATABASE_URL || theRunning(folder, 'DATABASE_URL').databaseUrl
}

/** REDIS_URL, else the queue of the platform that `npm start` runs in `folder`. Throws AddressesError. */
export function findRedisUrl(environment: Environment, folder = DATA_FOLDER): string {
  return connected(environment).REDIS_URL || theRunning(folder, 'REDIS_URL').redisUrl
}

/** MQTT_URL, else the broker of the platform that `npm start` runs in `folder`. Throws AddressesError. */
export function findMqttUrl(environment: Environment, folder = DATA_FOLDER): string {
  const url = connected(environment).MQTT_URL || theRunning(folder, 'MQTT_URL').mqttUrl
  if (url === undefined) throw new AddressesError('this platform does not say where its broker is: set MQTT_URL')
  return url
}

/** KM0_PANEL_URL, else the panel of the platform that `npm start` runs in `folder`, without a slash at its end. Throws AddressesError. */
export function findPanelUrl(environment: Environment, folder = DATA_FOLDER): string {
  const url = environment.KM0_PANEL_URL || theRunning(folder, 'KM0_PANEL_URL').url
  if (url === undefined) throw new AddressesError('the panel of this platform is not ready yet: wait a little, or set KM0_PANEL_URL')
  return url.replace(/\/+$/, '')
}

/** Folder of the checkpoints of the platform that `npm start` runs in `folder`. Throws AddressesError. */
export function findCheckpoints(folder = DATA_FOLDER): string {
  return join(theRunning(folder, 'KM0_CHECKPOINTS').folder, 'checkpoints')
}

/** Journals of the fleet of the platform that `npm start` runs in `folder`; none where nothing runs, or its fleet keeps none. */
export function findJournals(folder = DATA_FOLDER): readonly string[] {
  const running = runFilesIn(folder).filter((run) => isAlive(run.pid))
  const [run] = running
  if (run === undefined || running.length > 1) return []
  // Data stands below a folder named after its version.
  const folders = readdirSync(run.folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
  return ['.', ...folders].map((name) => join(run.folder, name, 'fleet', 'journal.jsonl')).filter((path) => existsSync(path))
}

/** KM0_SECRETS_KEY_FILE, else that of the platform that `npm start` runs in `folder`. Throws AddressesError. */
export function findSecretsKeyFile(environment: Environment, folder = DATA_FOLDER): string {
  if (environment.KM0_SECRETS_KEY)
    throw new AddressesError('the keys are in KM0_SECRETS_KEY: put them into a file, and set KM0_SECRETS_KEY_FILE')
  if (environment.KM0_SECRETS_KEY_FILE) return environment.KM0_SECRETS_KEY_FILE
  const run = theRunning(folder, 'KM0_SECRETS_KEY_FILE')
  const folders = readdirSync(run.folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
  const file = folders.map((name) => join(run.folder, name, 'secrets-key')).find((path) => existsSync(path))
  if (file === undefined) throw new AddressesError('this platform has no file of keys: set KM0_SECRETS_KEY_FILE')
  return file
}

type Run = z.infer<typeof runFile> & { readonly folder: string }

function theRunning(folder: string, variable: string): Run {
  const running = runFilesIn(folder).filter((run) => isAlive(run.pid))
  const [run] = running
  if (run === undefined) throw new AddressesError(`nothing runs here: start the platform with \`npm start\`, or set ${variable}`)
  if (running.length > 1)
    throw new AddressesError(`${running.length} platforms run below ${folder}: set ${variable} to say which one is meant`)
  return run
}

const splitBrokers = (text: string) => text.split(',').map((part) => part.trim())

/** Run files of the folder and of the folders in it: each played recording has one of its own. */
function runFilesIn(folder: string): Run[] {
  if (!existsSync(folder)) return []
  const folders = [
    folder,
    ...readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [join(folder, entry.name)] : [])),
  ]
  return folders.flatMap((candidate) => {
    try {
      const parsed = runFile.safeParse(JSON.parse(readFileSync(join(candidate, RUN_FILE), 'utf8')))
      return parsed.success ? [{ ...parsed.data, folder: candidate }] : []
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
