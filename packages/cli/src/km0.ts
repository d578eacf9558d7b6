// `km0`: commands for people. One file a command; this one finds it and prints what went wrong.
import { EpochContestedError, LogContradictionError, StorageError } from '@km0/checkpoints'
import { LogRefusedError, LogUnavailableError } from '@km0/transport'
import { AddressesError } from './addresses.ts'
import { backfillCancel, backfillDiff, backfillList, backfillPublish, backfillRollback, backfillShow } from './backfill.ts'
import { backfillPreview, backfillRun } from './backfill-run.ts'
import { backup } from './backup.ts'
import { brokerInit } from './broker-init.ts'
import { certify } from './certify.ts'
import { type Command, CommandError } from './command.ts'
import { deadLettersList, deadLettersResubmit, deadLettersShow } from './dead-letters.ts'
import { depotsImport } from './depots-import.ts'
import { dirty } from './dirty.ts'
import { epochRaise } from './epoch-raise.ts'
import { erase } from './erase.ts'
import { lakeExport, lakeFiles } from './lake-export.ts'
import { lakeExtensions } from './lake-extensions.ts'
import { lakeResults } from './lake-results.ts'
import { lakeSql } from './lake-sql.ts'
import { lakeStatusCommand } from './lake-status.ts'
import { marketsImport } from './markets-import.ts'
import { reprocess, reprocessDiff, reprocessDrop, reprocessList, reprocessPublish } from './reprocess.ts'
import { restore } from './restore.ts'
import { retention } from './retention.ts'
import { savepointCreate } from './savepoint-create.ts'
import { savepointDelete, savepointList } from './savepoint-list.ts'
import { savepointRestore } from './savepoint-restore.ts'
import { savepointStates } from './savepoint-states.ts'
import { secretsRotate } from './secrets-rotate.ts'
import { shiftsImport } from './shifts-import.ts'
import { stockRestart } from './stock-restart.ts'
import { trace } from './trace.ts'
import { upgrade } from './upgrade.ts'
import { userDepots, userList, userRestore, userRevoke, userRole, userToken } from './user.ts'
import { userInvite, userLink } from './user-link.ts'
import { vanAdd, vanList, vanRemove, vanRotate } from './van.ts'
import { vansImport } from './vans-import.ts'

const COMMANDS: readonly Command[] = [
  depotsImport,
  vansImport,
  vanAdd,
  vanRotate,
  vanRemove,
  vanList,
  brokerInit,
  marketsImport,
  shiftsImport,
  epochRaise,
  lakeStatusCommand,
  lakeSql,
  lakeResults,
  lakeExport,
  lakeFiles,
  lakeExtensions,
  dirty,
  backfillPreview,
  backfillRun,
  backfillList,
  backfillShow,
  backfillDiff,
  backfillPublish,
  backfillRollback,
  backfillCancel,
  certify,
  trace,
  reprocessList,
  reprocessDiff,
  reprocessPublish,
  reprocessDrop,
  reprocess,
  deadLettersList,
  deadLettersShow,
  deadLettersResubmit,
  backup,
  restore,
  retention,
  upgrade,
  erase,
  savepointCreate,
  savepointList,
  savepointRestore,
  savepointStates,
  savepointDelete,
  stockRestart,
  secretsRotate,
  userLink,
  userList,
  userInvite,
  userRole,
  userDepots,
  userRevoke,
  userRestore,
  userToken,
]

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ words }) => words.join(' ').length))
  const lines = COMMANDS.map(({ words, summary }) => `  ${words.join(' ').padEnd(width)}  ${summary}`)
  return `km0 COMMAND …\n\n${lines.join('\n')}\n\nkm0 COMMAND --help says more.\n`
}

async function main(args: readonly string[]): Promise<number> {
  const command = COMMANDS.find(({ words }) => words.every((word, index) => args[index] === word))
  const asked = args.includes('--help') || args.includes('-h')
  if (command === undefined) {
    const known = args.length === 0 || asked
    ;(known ? process.stdout : process.stderr).write(known ? overview() : `km0: there is no command "${args.join(' ')}"\n\n${overview()}`)
    return asked ? 0 : 2
  }
  if (asked) {
    process.stdout.write(`${command.help}\n`)
    return 0
  }
  return command.run(args.slice(command.words.length))
}

/** What is wrong outside of this program; the message says what. */
const OUTSIDE = [StorageError, LogContradictionError, EpochContestedError, LogUnavailableError, LogRefusedError]

/** node:util's own errors of a wrong option say what is wrong in one line. */
const isUsage = (error: unknown) => error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  const plain = error instanceof CommandError || error instanceof AddressesError || isUsage(error)
  const isSaid = plain || OUTSIDE.some((kind) => error instanceof kind) || !(error instanceof Error)
  process.stderr.write(`km0: ${isSaid ? message : (error.stack ?? message)}\n`)
  process.exitCode = plain ? 2 : 1
}
