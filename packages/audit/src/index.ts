export { gatherLedger, type LedgerQuery, type LedgerSources, NothingToCountError } from './gather.ts'
export { JournalError } from './journal-files.ts'
