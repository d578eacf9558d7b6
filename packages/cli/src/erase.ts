import { createHash } from 'node:crypto'
import { parseArgs } from 'node:util'
import { listSavepoints } from '@km0/checkpoints'
import { TOPICS } from '@km0/contracts'
import { countVan, type ErasedRows, eraseVan, forgetBefore } from '@km0/lake'
import { openVanEraser, type VanTraces } from '@km0/serving/erase/erase-van'
import { openLog } from '@km0/transport'
import { AddressesError, findBrokers, findDatabaseUrl } from './addresses.ts'
import { findCheckpointPlace } from './backup-open.ts'
import { CHECKPOINTS_HELP } from './checkpoints-open.ts'
import { type Command, CommandError } from './command.ts'
import { emptyNewestPoints } from './erase-newest.ts'
import { withLake } from './lake-open.ts'
import { accountName } from './user-open.ts'

/** A window, a session and the state of signal have ended by then, so that the job writes nothing more of the van. */
const SILENT_MS = 3_600_000
const SETTLE_S = 60

export const erase: Command = {
  words: ['erase'],
  summary: 'erase one van from store and lake, and say what still holds it',
  help: `km0 erase VAN [--yes] [--settle SECONDS] [--without-lake] [--checkpoints PLACE]

  Without --yes it shows what there is of the van and changes nothing. With it: deletes its rows in PostgreSQL, takes its name out of lists and JSON,
  deletes its rows in the lake and writes those files anew, forgets the older versions of the lake and deletes their files, and empties its newest
  point in Kafka. Then it says what still holds the van, and until when: Kafka's retention, checkpoints, savepoints, backups, exports, and what people
  wrote. Afterwards the lake cannot be read as it was before. Restart the dashboard: it has the day's points in memory.
  The van must have stopped: take its credentials first (km0 van remove). One that was heard within the last hour is refused.
  --settle        seconds between deleting in the lake and forgetting its older versions, which appends under way still need; default ${SETTLE_S}
  --without-lake  where there is no lake
  ${CHECKPOINTS_HELP}
  Takes DATABASE_URL and KAFKA_BROKERS, or the platform that \`npm start\` runs here; KM0_LAKE_* as the job has them.`,
  run: async (args) => {
    const text = { type: 'string' } as const
    const flag = { type: 'boolean', default: false } as const
    const options = { yes: flag, settle: { ...text, default: String(SETTLE_S) }, 'without-lake': flag, checkpoints: text }
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
    const [van] = positionals
    if (van === undefined || positionals.length > 1) throw new CommandError('say which van: km0 erase VAN')
    const settleMs = Number(values.settle) * 1000
    if (!(settleMs >= 0)) throw new CommandError(`--settle ${values.settle}: write a number of seconds`)
    const eraser = openVanEraser({ databaseUrl: findDatabaseUrl(process.env), applicationName: 'km0-cli' })
    try {
      const traces = await eraser.find(van)
      const lake = values['without-lake'] ? {} : await withLake(true, (open) => countVan(open, van))
      print('in PostgreSQL', traces.rows)
      print('in lists and JSON there', traces.named)
      if (values['without-lake']) process.stdout.write('in the lake: not looked at\n')
      else print('in the lake', lake)
      refuseRunning(van, traces)
      if (!values.yes) {
        tellRest(van, traces, await savepointNames(values.checkpoints))
        process.stderr.write('nothing was changed: say --yes to erase it\n')
        return 1
      }
      const tombstones = await emptyPoints(van)
      await eraser.erase(van)
      const erased = values['without-lake'] ? {} : await eraseInLake(van, settleMs)
      const counts = [...Object.entries(traces.rows), ...Object.entries(erased).map(([name, count]) => [`lake ${name}`, count] as const)]
      const detail = `van ${digestOf(van)}: ${counts.map(([name, count]) => `${name} ${count}`).join(', ') || 'nothing was left'}`
      await eraser.note(`km0 (${accountName()})`, Date.now(), detail)
      process.stdout.write(
        `erased${tombstones === null ? '; Kafka was not asked' : `; ${tombstones} newest points emptied in ${TOPICS.live.name}`}\n`,
      )
      tellRest(van, traces, await savepointNames(values.checkpoints))
      return tombstones === null ? 1 : 0
    } finally {
      await eraser.close()
    }
  },
}

function refuseRunning(van: string, { newestArrivalMs, reprocessings }: VanTraces): void {
  const sinceMs = newestArrivalMs === null ? Number.POSITIVE_INFINITY : Date.now() - newestArrivalMs
  if (sinceMs < SILENT_MS)
    throw new CommandError(
      `${van} was heard ${Math.round(sinceMs / 60_000)} min ago, and would be written again: km0 van remove ${van}, and wait until it was silent for an hour`,
    )
  if (reprocessings.length > 0)
    throw new CommandError(`reprocessings hold its last points: publish or drop them first: km0 reprocess drop ${reprocessings.join(', ')}`)
}

async function eraseInLake(van: string, settleMs: number): Promise<ErasedRows> {
  return withLake(false, async (lake) => {
    const erased = await eraseVan(lake, van)
    const doneMs = Date.now()
    if (settleMs > 0) process.stderr.write(`the lake's older versions are forgotten in ${settleMs / 1000} s\n`)
    await new Promise((resolve) => setTimeout(resolve, settleMs))
    process.stderr.write(`${await forgetBefore(lake, doneMs)} files of the lake are deleted\n`)
    return erased
  })
}

/** Null when there is no Kafka to ask. */
async function emptyPoints(van: string): Promise<number | null> {
  try {
    return await emptyNewestPoints(openLog({ brokers: findBrokers(process.env), clientId: 'km0-cli' }), van)
  } catch (error) {
    if (error instanceof AddressesError) return null
    throw error
  }
}

async function savepointNames(place: string | undefined): Promise<readonly string[] | null> {
  const objects = findCheckpointPlace(place)
  if (objects === null) return null
  return (await listSavepoints(objects)).savepoints.map(({ name, pipeline }) => `${name} of ${pipeline}`)
}

/** Topics that hold records of vans, and for how long after they came. */
const HOLDING = [TOPICS.positions, TOPICS.panel, TOPICS.late, TOPICS.deadLetters]

function tellRest(van: string, traces: VanTraces, savepoints: readonly string[] | null): void {
  const newestMs = traces.newestArrivalMs ?? Date.now()
  const lines = [
    ...HOLDING.map(({ name, retentionMs }) => `Kafka ${name}: until ${dayOf(newestMs + retentionMs)}, and the rest of that segment`),
    `Kafka ${TOPICS.live.name}: until the broker compacts the segment`,
    'checkpoints: until the job forgets the van, and KM0_CHECKPOINT_KEEP newer ones were made',
    savepoints === null
      ? 'savepoints: where they lie is not known (--checkpoints PLACE)'
      : `savepoints: ${savepoints.length === 0 ? 'there are none' : `${savepoints.join(', ')}: until km0 savepoint delete`}`,
    'backups made before now, exports, reports in KM0_REPORT_DIR, what was sent to webhooks and by e-mail: until somebody deletes them',
    ...Object.entries(traces.texts).map(
      ([table, count]) => `texts of ${table}: ${count} name it, until their time is over (docs/retention.md)`,
    ),
  ]
  process.stdout.write(`what else holds ${van}:\n${lines.map((line) => `  ${line}\n`).join('')}`)
}

function print(where: string, counts: Readonly<Record<string, number>>): void {
  const words = Object.entries(counts).map(([name, count]) => `${name} ${count}`)
  process.stdout.write(`${where}: ${words.join(', ') || 'nothing'}\n`)
}

/** So that the audit shows that it was done, to whoever knows the name, and tells it to nobody. */
const digestOf = (van: string) => `sha256:${createHash('sha256').update(van).digest('hex').slice(0, 16)}`

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
