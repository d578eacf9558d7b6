import { parseArgs } from 'node:util'
import { parseEnvironment } from '@km0/runtime'
import { openRetention, type RetentionRow, retentionJobEnvironment, retentionWords } from '@km0/serving'
import { findDatabaseUrl } from './addresses.ts'
import { type Command, CommandError } from './command.ts'
import { asTable } from './lake-sql.ts'
import { accountName } from './user-open.ts'

export const retention: Command = {
  words: ['retention'],
  summary: 'delete rows that are too old, or say which they are',
  help: `km0 retention [--dry-run] [--json]

  What the job of the batch program does every KM0_RETENTION_EVERY_MS, at once: deletes rows of PostgreSQL that are older than their kind is kept,
  in batches of KM0_RETENTION_BATCH_ROWS. Never touches rows of a version that is served. Settings: docs/retention.md; run it with those of the
  batch program. The lake, Kafka and checkpoints keep their own time, which stands there too.
  --dry-run  counts the rows and deletes nothing
  Takes DATABASE_URL, or the platform that \`npm start\` runs here.`,
  run: async (args) => {
    const flag = { type: 'boolean', default: false } as const
    const { values } = parseArgs({ args: [...args], options: { 'dry-run': flag, json: flag } })
    const settings = parseEnvironment(retentionJobEnvironment, process.env)
    const store = openRetention({ databaseUrl: findDatabaseUrl(process.env), applicationName: 'km0-cli' })
    try {
      const nowMs = Date.now()
      const pace = { batchRows: settings.KM0_RETENTION_BATCH_ROWS, pauseMs: settings.KM0_RETENTION_PAUSE_MS }
      const progress = ({ kind }: RetentionRow, share: number) => void process.stderr.write(`${Math.round(share * 100)} % ${kind}\n`)
      const rows = values['dry-run']
        ? await store.preview(settings, nowMs)
        : await store.apply(settings, nowMs, pace, progress, `km0 (${accountName()})`)
      if (rows === null) throw new CommandError('the job of the batch program is at it now: try again when it is done')
      process.stdout.write(values.json ? `${JSON.stringify(rows, null, 2)}\n` : asText(rows, values['dry-run']))
      return 0
    } finally {
      await store.close()
    }
  },
}

function asText(rows: readonly RetentionRow[], isDry: boolean): string {
  // A table a line: names of partitions are long.
  const lines = rows.flatMap(({ kind, setting, days, beforeMs, rows: of }) => {
    const since = beforeMs === null ? 'the log has told nothing yet' : new Date(beforeMs).toISOString().slice(0, 16)
    const [first = 'nothing', ...more] = Object.entries(of).map(([table, count]) => retentionWords({ [table]: count }))
    return [[kind, `${setting}=${days}`, since, first], ...more.map((words) => ['', '', '', words])]
  })
  return asTable({ columns: ['kind', 'kept days', 'older than (UTC)', isDry ? 'is too old' : 'deleted'], rows: lines })
}
