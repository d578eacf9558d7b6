import { userInfo } from 'node:os'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { type Actor, type PositionsSettings, TOPICS } from '@km0/contracts'
import { type Lake, lakeStatus, logStart, oldestEventMs, POSITIONS } from '@km0/lake'
import {
  BackfillRefusedError,
  HOUR_MS,
  openBackfills,
  openReprocessings,
  openServing,
  type Reprocessing,
  type Reprocessings,
} from '@km0/serving'
import { openLog } from '@km0/transport'
import { findBrokers, findDatabaseUrl } from './addresses.ts'
import { type Command, CommandError } from './command.ts'
import { instantOf, withLake } from './lake-open.ts'
import { asTable } from './lake-sql.ts'
import { pipelineRules } from './pipeline-rules.ts'
import { runReprocessing, WARM_UP_MS } from './reprocess-run.ts'

const text = { type: 'string' } as const
const PLATFORM = 'Takes DATABASE_URL and KAFKA_BROKERS, or the platform that `npm start` runs here; KM0_LAKE_* as the job has them.'
const pool = () => ({ databaseUrl: findDatabaseUrl(process.env), applicationName: 'km0-cli' })

function actorOf(by: string | undefined): Actor {
  const name = by ?? userInfo().username
  return { id: name, name, roles: ['analyst'] }
}

function nameOf(given: string | undefined): string {
  if (given === undefined || !/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u.test(given))
    throw new CommandError('say --as NAME: a letter or digit, then letters, digits, blanks, dots, - and _')
  return given
}

async function withStore<T>(call: (store: Reprocessings) => Promise<T>): Promise<T> {
  const serving = openServing(pool())
  const store = openReprocessings(pool())
  try {
    await serving.migrate()
    return await call(store)
  } catch (error) {
    throw error instanceof BackfillRefusedError ? new CommandError(error.message) : error
  } finally {
    await store.close()
    await serving.close()
  }
}

async function known(store: Reprocessings, name: string): Promise<Reprocessing> {
  const found = await store.read(name)
  if (found === null) throw new CommandError(`there is no reprocessing called ${name}: \`km0 reprocess list\` shows those that there are`)
  return found
}

export const reprocess: Command = {
  words: ['reprocess'],
  summary: "run the live job's code, as it is here, over the lake and then the log, beside what is served",
  help: `km0 reprocess --from earliest|TIME --as NAME [--until-caught-up] [--by NAME]

  Runs the live job's code with the rules of this machine's settings (km0.jsonc, KM0_POSITIONS_…) over the lake, then over the log from where the
  lake ends, by offsets, and stays up to date until Ctrl-C. The same command goes on where it ended. Its windows and sessions stand beside what is
  served, as a version of their own: \`km0 reprocess diff\` shows the difference, \`km0 reprocess publish\` moves the pointer.
  --from              earliest: all that the lake holds; TIME: rows of hours from then on
  --until-caught-up   ends when all that the log held is in
  ${PLATFORM}`,
  run: async (args) => {
    const options = { from: text, as: text, by: text, 'until-caught-up': { type: 'boolean', default: false } } as const
    const { values } = parseArgs({ args: [...args], options })
    const name = nameOf(values.as)
    const rules = pipelineRules('km0')
    const stop = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
    const say = (line: string) => void process.stderr.write(`${line}\n`)
    return withStore((store) =>
      withLake(true, async (lake) => {
        const of = (await store.read(name)) ?? (await begin(lake, store, { name, from: values.from, by: values.by, rules }))
        if (!isDeepStrictEqual(of.settings, JSON.parse(JSON.stringify(rules))))
          throw new CommandError(`${name} was begun with other rules: take the same ones, or another name`)
        const log = openLog({ brokers: findBrokers(process.env), clientId: 'km0-cli' })
        const parts = { lake, log, store, rules, topic: TOPICS.positions.name, say, signal: stop.signal }
        const run = await store.beginRun(name, Date.now())
        try {
          await runReprocessing(of, parts, values['until-caught-up'])
        } catch (error) {
          // What has failed is said all the same when the store does not take note of it.
          await store.endRun(run, error instanceof Error ? error.message : String(error), Date.now()).catch(() => undefined)
          throw error
        }
        await store.endRun(run, null, Date.now())
        process.stdout.write(`${asText([await known(store, name)])}`)
        return 0
      }),
    )
  },
}

interface Begin {
  readonly name: string
  readonly from: string | undefined
  readonly by: string | undefined
  readonly rules: PositionsSettings
}

/** The seam is where the lake stands now: what it has comes from it, what comes after from the log. */
async function begin(lake: Lake, store: Reprocessings, { name, from, by, rules }: Begin): Promise<Reprocessing> {
  if (from === undefined) throw new CommandError('say --from earliest, or --from TIME')
  const { partitions, snapshot, holes } = await lakeStatus(lake)
  const ours = partitions.filter(({ table }) => table === POSITIONS.name)
  if (ours.length === 0) throw new CommandError('the lake holds no positions yet')
  const epoch = Math.max(...ours.map((partition) => partition.epoch))
  const wantedMs = from === 'earliest' ? await oldestEventMs(lake, POSITIONS, epoch) : instantOf('from', from)
  if (wantedMs === null) throw new CommandError('the lake holds no positions yet')
  const fromMs = Math.floor(wantedMs / HOUR_MS) * HOUR_MS
  const places = []
  for (const { partition, nextOffset: seamOffset } of ours.filter((row) => row.epoch === epoch)) {
    const first =
      from === 'earliest'
        ? 0
        : ((await logStart(lake, { table: POSITIONS, epoch, partition, arrivalMs: fromMs - WARM_UP_MS })).offset ?? seamOffset)
    places.push({ partition, seamOffset, nextOffset: Math.min(first, seamOffset) })
  }
  for (const { table, partition, fromOffset, toOffset } of holes)
    if (table === POSITIONS.name && fromOffset > 0)
      process.stderr.write(`the lake has a hole: partition ${partition}, offsets ${fromOffset} to ${toOffset - 1}\n`)
  const { sessionGapMs } = rules
  await store.begin({
    name,
    epoch,
    fromMs,
    settings: rules,
    sessionGapMs,
    snapshot,
    partitions: places,
    actor: actorOf(by),
    atMs: Date.now(),
  })
  return known(store, name)
}

const iso = (ms: number | null) => (ms === null ? '' : new Date(ms).toISOString())

function asText(all: readonly Reprocessing[]): string {
  return asTable({
    columns: ['name', 'version', 'from', 'complete up to', 'partition', 'seam', 'next offset', 'final', 'moved'],
    rows: all.flatMap(({ name, version, fromMs, toMs, movedAtMs, partitions }) =>
      partitions.map(({ partition, seamOffset, nextOffset, finalMs }) => [
        ...[name, String(version), iso(fromMs), iso(toMs), String(partition), String(seamOffset), String(nextOffset)],
        ...[iso(finalMs), iso(movedAtMs)],
      ]),
    ),
  })
}

export const reprocessList: Command = {
  words: ['reprocess', 'list'],
  summary: 'reprocessings, and how far they have come',
  help: `km0 reprocess list [--json]\n\n  ${PLATFORM}`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { json: { type: 'boolean', default: false } } })
    const all = await withStore((store) => store.list())
    const shown = all.map((one) => ({ ...one, partitions: one.partitions.map(({ snapshot: _, ...place }) => place) }))
    if (values.json) process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`)
    else process.stdout.write(all.length === 0 ? 'there is none\n' : asText(all))
    return 0
  },
}

export const reprocessDiff: Command = {
  words: ['reprocess', 'diff'],
  summary: 'what a reprocessing would change of what is served',
  help: `km0 reprocess diff --as NAME [--json]

  By van and hour, windows (distance) and sessions that publishing would add, take away and change, up to the last complete hour.
  ${PLATFORM}`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { as: text, json: { type: 'boolean', default: false } } })
    const { version } = await withStore((store) => known(store, nameOf(values.as)))
    const backfills = openBackfills(pool())
    try {
      const { added, removed, changed, hours } = await backfills.difference(version)
      if (values.json) process.stdout.write(`${JSON.stringify({ version, added, removed, changed, hours }, null, 2)}\n`)
      else {
        const rows = hours.map((hour) => [hour.owner, iso(hour.hourMs), hour.kind, ...[hour.added, hour.removed, hour.changed].map(String)])
        if (rows.length > 0) process.stdout.write(asTable({ columns: ['van', 'hour', 'kind', 'added', 'removed', 'changed'], rows }))
        process.stdout.write(`${added} rows added, ${removed} removed, ${changed} changed\n`)
      }
      return 0
    } finally {
      await backfills.close()
    }
  },
}

export const reprocessPublish: Command = {
  words: ['reprocess', 'publish'],
  summary: 'serve what a reprocessing has made',
  help: `km0 reprocess publish --as NAME --reason TEXT [--by NAME]

  Moves the pointers of all complete hours, in one transaction. Again later, it moves those that have become complete since. Taken back like any
  other publication: its number is printed.
  ${PLATFORM}`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { as: text, reason: text, by: text } })
    if (values.reason === undefined || values.reason.trim() === '') throw new CommandError('say why: --reason TEXT')
    const { reason } = values
    const { version } = await withStore((store) => known(store, nameOf(values.as)))
    const backfills = openBackfills(pool())
    try {
      const { publication, hours, held } = await backfills.publish(version, { actor: actorOf(values.by), reason, atMs: Date.now() })
      process.stdout.write(`publication ${publication}: ${hours} pointers moved to version ${version}\n`)
      if (held.length > 0) process.stdout.write(`sessions of ${held.length} vans stay as they are served where one is still open\n`)
      return 0
    } catch (error) {
      throw error instanceof BackfillRefusedError ? new CommandError(error.message) : error
    } finally {
      await backfills.close()
    }
  },
}

export const reprocessDrop: Command = {
  words: ['reprocess', 'drop'],
  summary: 'forget a reprocessing that was never published',
  help: `km0 reprocess drop --as NAME\n\n  ${PLATFORM}`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { as: text } })
    await withStore(async (store) => store.drop(await known(store, nameOf(values.as))))
    process.stdout.write('forgotten\n')
    return 0
  },
}
