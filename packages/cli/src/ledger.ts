// `ledger`: counts what stood at each station in a span of time, and names every difference. docs/ledger.md.
import { gatherLedger, JournalError, NothingToCountError } from '@km0/audit'
import { TOPICS } from '@km0/contracts'
import type { Lake } from '@km0/lake'
import { openLedgerStore, openServing } from '@km0/serving'
import { openLog } from '@km0/transport'
import { AddressesError, findBrokers, findDatabaseUrl, findJournals } from './addresses.ts'
import { CommandError } from './command.ts'
import { withLake } from './lake-open.ts'
import { LEDGER_HELP, type LedgerOptions, parseLedgerOptions } from './ledger-options.ts'
import { ledgerText } from './ledger-print.ts'
import { pipelineRules } from './pipeline-rules.ts'
import { waitUntilApplied } from './verify-wait.ts'

const CANNOT_TELL = 2

async function ledger(options: LedgerOptions, lake: Lake | string): Promise<number> {
  const log = openLog({ brokers: findBrokers(process.env), clientId: 'km0-ledger' })
  const databaseUrl = findDatabaseUrl(process.env)
  const serving = openServing({ databaseUrl, applicationName: 'km0-ledger' })
  const store = openLedgerStore({ databaseUrl, applicationName: 'km0-ledger' })
  try {
    if (options.waitMs > 0) {
      const applied = await waitUntilApplied(log, serving, await log.endOffsets(TOPICS.positions.name), options.waitMs)
      if ('missing' in applied) process.stderr.write(`ledger: after ${options.waitMs / 1000} s still: ${applied.missing}\n`)
    }
    const report = await gatherLedger(
      { log, serving, store, lake, journals: options.journals ?? findJournals(), rules: pipelineRules('ledger') },
      { span: options.span, drained: options.drained },
    )
    process.stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : ledgerText(report, process.stdout.isTTY))
    return report.balanced ? 0 : 1
  } finally {
    await Promise.all([serving.close(), store.close()])
  }
}

/** The lake is opened where there is one; why there is none stands in the ledger. */
async function withLakeOrWhy(call: (lake: Lake | string) => Promise<number>): Promise<number> {
  let why = ''
  try {
    return await withLake(true, (lake) => {
      why = 'open'
      return call(lake)
    })
  } catch (error) {
    if (why === 'open' || !(error instanceof CommandError)) throw error
    return call(error.message)
  }
}

try {
  const options = parseLedgerOptions(process.argv.slice(2))
  if (options === null) process.stdout.write(LEDGER_HELP)
  else process.exitCode = await withLakeOrWhy((lake) => ledger(options, lake))
} catch (error) {
  const known = [AddressesError, CommandError, JournalError, NothingToCountError].some((kind) => error instanceof kind)
  const message = error instanceof Error ? (known ? error.message : (error.stack ?? error.message)) : String(error)
  process.stderr.write(`ledger: ${message}\n`)
  process.exitCode = CANNOT_TELL
}
