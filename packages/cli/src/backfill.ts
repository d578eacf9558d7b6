import { parseArgs } from 'node:util'
import type { HoursOfOwner } from '@km0/contracts'
import type { Published } from '@km0/serving'
import { actorOf, BACKFILL_ADDRESS_HELP, numberOf, withBackfills } from './backfill-open.ts'
import { differenceText, progressLine, publicationsTable, rangeText, versionsTable } from './backfill-text.ts'
import { type Command, CommandError } from './command.ts'

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const LIST_ROWS = 50

const print = (isJson: boolean, value: unknown, plain: () => string) =>
  process.stdout.write(isJson ? `${JSON.stringify(value, null, 2)}\n` : plain())

export const backfillList: Command = {
  words: ['backfill', 'list'],
  summary: 'versions and publications, newest first',
  help: `km0 backfill list [--json]\n\n  The newest ${LIST_ROWS} versions, whether they are served, and the newest publications.\n  ${BACKFILL_ADDRESS_HELP}`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { json: flag } })
    return withBackfills(async (store) => {
      const [versions, publications] = [await store.list(LIST_ROWS), await store.publications(LIST_ROWS)]
      print(values.json, { versions, publications }, () =>
        versions.length === 0
          ? 'no backfill has been run yet: `km0 backfill preview --day DATE` says what one would do\n'
          : `${versionsTable(versions)}${publications.length === 0 ? '' : `\n${publicationsTable(publications)}`}`,
      )
      return 0
    })
  },
}

export const backfillShow: Command = {
  words: ['backfill', 'show'],
  summary: 'a version: how far it is, its log, its publications',
  help: `km0 backfill show VERSION [--json]\n\n  ${BACKFILL_ADDRESS_HELP}`,
  run: async (args) => {
    const { values, positionals } = parseArgs({ args: [...args], options: { json: flag }, allowPositionals: true })
    const id = numberOf(positionals[0], 'version')
    return withBackfills(async (store) => {
      const version = await store.read(id)
      if (version === null) throw new CommandError(`there is no version ${id}: \`km0 backfill list\` shows those that there are`)
      const [progress, log, publications] = [
        await store.progress(id, Date.now()),
        await store.readLog(id),
        await store.publications(50, id),
      ]
      print(values.json, { version, progress, log, publications }, () => {
        const lines = log.map(({ atMs, line }) => `${new Date(atMs).toISOString()}  ${line}\n`).join('')
        const running = version.state === 'running' && progress !== null ? `${progressLine(progress)}\n` : ''
        const error = version.error === null ? '' : `${version.error}\n`
        return `${versionsTable([version])}${running}${error}\n${lines}${publications.length === 0 ? '' : `\n${publicationsTable(publications)}`}`
      })
      return 0
    })
  },
}

export const backfillDiff: Command = {
  words: ['backfill', 'diff'],
  summary: 'what a version changes of what is served, by van and hour',
  help: `km0 backfill diff VERSION [--by-van] [--json]\n\n  Rows added, removed and changed, and kilometres, of each van and hour in which something differs.\n  ${BACKFILL_ADDRESS_HELP}`,
  run: async (args) => {
    const { values, positionals } = parseArgs({ args: [...args], options: { json: flag, 'by-van': flag }, allowPositionals: true })
    const id = numberOf(positionals[0], 'version')
    return withBackfills(async (store) => {
      const difference = await store.difference(id)
      print(values.json, difference, () => differenceText(difference, !values['by-van']))
      return 0
    })
  },
}

const MOVE = { reason: text, by: text, json: flag } as const

export const backfillPublish: Command = {
  words: ['backfill', 'publish'],
  summary: 'make a version the served one',
  help: `km0 backfill publish VERSION --reason TEXT [--by NAME] [--json]

  Readers get the version's rows from now on. What was served before is kept: \`km0 backfill rollback\` brings it back.
  ${BACKFILL_ADDRESS_HELP}`,
  run: (args) =>
    move(
      args,
      'version',
      (id) => `version ${id} is served`,
      (store, id, command) => store.publish(id, command),
    ),
}

export const backfillRollback: Command = {
  words: ['backfill', 'rollback'],
  summary: 'serve again what was served before a publication',
  help: `km0 backfill rollback PUBLICATION --reason TEXT [--by NAME] [--json]\n\n  The newest first, where publications meet.\n  ${BACKFILL_ADDRESS_HELP}`,
  run: (args) =>
    move(
      args,
      'publication',
      (id) => `publication ${id} is undone`,
      (store, id, command) => store.rollBack(id, command),
    ),
}

type Store = Parameters<Parameters<typeof withBackfills>[0]>[0]
type MoveCommand = Parameters<Store['publish']>[1]

async function move(
  args: readonly string[],
  what: 'version' | 'publication',
  said: (id: number) => string,
  act: (store: Store, id: number, command: MoveCommand) => Promise<Published>,
): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], options: MOVE, allowPositionals: true })
  const id = numberOf(positionals[0], what)
  const { reason } = values
  if (reason === undefined || reason.trim() === '') throw new CommandError('say why with --reason: it is kept with the publication')
  return withBackfills(async (store) => {
    const done = await act(store, id, { actor: actorOf(values.by), reason, atMs: Date.now() })
    print(values.json, done, () => `${said(id)}: publication ${done.publication}, ${done.hours} hours of results moved\n${notes(done)}`)
    return 0
  })
}

function notes({ joined, held }: Published): string {
  const line = (word: string) => (hours: HoursOfOwner) =>
    `${word}: ${rangeText({ pipeline: 'positions', owners: [hours.owner], fromMs: hours.fromMs, toMs: hours.toMs })}: ${hours.why}\n`
  return [...joined.map(line('sessions brought in')), ...held.map(line('sessions left as they are'))].join('')
}

export const backfillCancel: Command = {
  words: ['backfill', 'cancel'],
  summary: 'stop a version that is being computed',
  help: `km0 backfill cancel VERSION\n\n  What is computed stays: \`km0 backfill run\` with the same range goes on with what is missing.\n  ${BACKFILL_ADDRESS_HELP}`,
  run: async (args) => {
    const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true })
    const id = numberOf(positionals[0], 'version')
    return withBackfills(async (store) => {
      if (!(await store.cancel(id, Date.now()))) throw new CommandError(`version ${id} does not run: \`km0 backfill list\` shows what does`)
      process.stdout.write(`version ${id} is cancelled\n`)
      return 0
    })
  },
}
