import { parseArgs } from 'node:util'
import { EVERYTHING } from '@km0/contracts'
import { lakeHoles, POSITIONS } from '@km0/lake'
import { parseEnvironment } from '@km0/runtime'
import { type DirtyHour, type DirtyPiece, type DirtyPlan, openBackfills, openServing } from '@km0/serving'
import { z } from 'zod'
import { findDatabaseUrl } from './addresses.ts'
import { type Command, CommandError } from './command.ts'
import { instantOf, withLake } from './lake-open.ts'
import { asTable } from './lake-sql.ts'
import { pipelineRules } from './pipeline-rules.ts'

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 7

const environment = z.object({
  /** How many rows of the lake a backfill computes in a second, while no run has shown it. */
  KM0_BACKFILL_ROWS_PER_SECOND: z.coerce.number().positive().default(400_000),
  /** What each piece of one costs besides. */
  KM0_BACKFILL_PIECE_MS: z.coerce.number().min(0).default(500),
})

export const dirty: Command = {
  words: ['dirty'],
  summary: 'list hours whose rows miss late points, and the smallest backfill that mends them',
  help: `km0 dirty [--from TIME] [--to TIME] [--van NAME …] [--hours] [--json]

  A late point (tard) or one that live results hold in part (parcial) makes the hours dirty whose rows it can change: those of its windows and of
  the next point's, and those in which the sessions begin that it belongs to or touches. What a published backfill has taken in is clean.
  Prints the smallest backfill that leaves nothing dirty, piece by piece, with the points that it brings in, the rows that it reads and the
  time that it takes: by the rate of the newest large runs, or KM0_BACKFILL_ROWS_PER_SECOND (400000) while there was none; KM0_BACKFILL_PIECE_MS
  (500) for each piece.
  --from, --to  event time of the late points; default: the last ${DEFAULT_DAYS} days and all that is newer
  --hours       each (hour, van) too
  Exit code: 0 nothing is dirty, 1 something is.
  Takes DATABASE_URL, or the platform that \`npm start\` runs here.`,
  run: async (args) => {
    const text = { type: 'string' } as const
    const flag = { type: 'boolean', default: false } as const
    const { values } = parseArgs({
      args: [...args],
      options: { from: text, to: text, van: { type: 'string', multiple: true }, hours: flag, json: flag },
    })
    const fromMs = values.from === undefined ? Date.now() - DEFAULT_DAYS * DAY_MS : instantOf('from', values.from)
    const toMs = values.to === undefined ? Number.MAX_SAFE_INTEGER : instantOf('to', values.to)
    if (fromMs >= toMs) throw new CommandError('--from must be before --to')
    const plan = await readPlan({ fromMs, toMs: Math.min(toMs, Date.now() + DAY_MS) }, values.van)
    const expectedMs = await expectedTime(plan)
    await warnOfHoles()
    process.stdout.write(values.json ? asJson(plan, expectedMs) : asText(plan, expectedMs, values.hours))
    return plan.hours.length === 0 ? 0 : 1
  },
}

async function readPlan(range: { fromMs: number; toMs: number }, vans: readonly string[] | undefined): Promise<DirtyPlan> {
  const settings = pipelineRules('km0')
  const serving = openServing({ databaseUrl: findDatabaseUrl(process.env), applicationName: 'km0-cli' })
  try {
    await serving.migrate()
    const rules = { ...settings, maxGapMs: settings.maxAgeMs }
    return await serving.readDirtyPlan(EVERYTHING, {
      ...range,
      rules,
      allowedLatenessMs: settings.allowedLatenessMs,
      ...(vans === undefined ? {} : { vans }),
    })
  } finally {
    await serving.close()
  }
}

/** Hours in which the lake itself misses records: a backfill would take away what live had. Without a lake there is nothing to say. */
async function warnOfHoles(): Promise<void> {
  try {
    const holes = (await withLake(true, lakeHoles)).filter(({ table, fromOffset }) => table === POSITIONS.name && fromOffset > 0)
    for (const { partition, fromOffset, toOffset, foundMs } of holes)
      process.stderr.write(
        `the lake has a hole: partition ${partition}, offsets ${fromOffset} to ${toOffset - 1}, found ${new Date(foundMs).toISOString()}. ` +
          'A backfill of the hours that were in it would take away what live results hold.\n',
      )
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
  }
}

/** By the rate of the newest large runs; by the setting while there was none. */
async function expectedTime({ rowsToRead, pieces }: DirtyPlan): Promise<number> {
  const { KM0_BACKFILL_ROWS_PER_SECOND: setting, KM0_BACKFILL_PIECE_MS: eachMs } = parseEnvironment(environment, process.env)
  const backfills = openBackfills({ databaseUrl: findDatabaseUrl(process.env), applicationName: 'km0-cli' })
  try {
    return pieces.length * eachMs + (rowsToRead / ((await backfills.pastRate()) ?? setting)) * 1000
  } finally {
    await backfills.close()
  }
}

const hourText = (ms: number) => `${new Date(ms).toISOString().slice(0, 16)}Z`
const causesOf = ({ causes }: DirtyHour) => [...causes].sort().join(' ')

function asJson({ hours, ...plan }: DirtyPlan, expectedMs: number): string {
  const rows = hours.map((hour) => ({ van: hour.van, hourMs: hour.hourMs, causes: [...hour.causes].sort(), points: hour.points }))
  return `${JSON.stringify({ ...plan, expectedMs: Math.round(expectedMs), hours: rows }, null, 2)}\n`
}

function asText({ hours, waiting, pieces, points, rowsToRead }: DirtyPlan, expectedMs: number, each: boolean): string {
  if (hours.length === 0) return 'nothing is dirty\n'
  const list = asTable({
    columns: ['hour', 'van', 'late points', 'what they can change'],
    rows: hours.map((hour) => [hourText(hour.hourMs), hour.van, String(hour.points.length), causesOf(hour)]),
  })
  const vans = ({ vans: of }: DirtyPiece) => (of.length <= 4 ? of.join(' ') : `${of.slice(0, 3).join(' ')} … (${of.length} vans)`)
  const table = asTable({
    columns: ['from', 'to', 'points', 'vans'],
    rows: pieces.map((piece) => [hourText(piece.fromMs), hourText(piece.toMs), String(piece.points), vans(piece)]),
  })
  const dirtyVans = new Set(hours.map(({ van }) => van)).size
  const head = `${hours.length} dirty hours of ${dirtyVans} vans`
  const tail = `the smallest backfill: ${pieces.length} pieces, brings in ${points} points, reads about ${rowsToRead} rows, takes about ${(expectedMs / 1000).toFixed(1)} s`
  const later =
    waiting === null
      ? ''
      : `${waiting.hours} of them are not final yet and in no piece: the last one when the log is final up to ${hourText(waiting.untilMs)}\n`
  return `${each ? `${list}\n` : ''}${table}\n${head}\n${later}${tail}\n`
}
