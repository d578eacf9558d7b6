import tables from './sql/000001_tables.ts'
import stock from './sql/000002_stock.ts'
import late from './sql/000003_late.ts'
import outages from './sql/000004_outages.ts'
import versions from './sql/000005_versions.ts'
import ledger from './sql/000006_ledger.ts'
import reprocessing from './sql/000007_reprocessing.ts'
import versionEpoch from './sql/000008_version_epoch.ts'
import nightly from './sql/000009_nightly.ts'
import logHole from './sql/000010_log_hole.ts'
import reprocessingVans from './sql/000011_reprocessing_vans.ts'
import signIn from './sql/000012_sign_in.ts'
import events from './sql/000013_events.ts'
import dispatch from './sql/000014_dispatch.ts'
import silenceWatch from './sql/000015_silence_watch.ts'
import rowSecurity from './sql/000016_row_security.ts'
import correctedSilences from './sql/000017_corrected_silences.ts'
import lineage from './sql/000018_lineage.ts'
import maskedKeys from './sql/000019_masked_keys.ts'

export interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
}

/** Forward only: a migration that has been released is never changed, and its number never used again. */
export const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: 'tables', sql: tables },
  { number: 2, name: 'stock', sql: stock },
  { number: 3, name: 'late', sql: late },
  { number: 4, name: 'outages', sql: outages },
  { number: 5, name: 'versions', sql: versions },
  { number: 6, name: 'ledger', sql: ledger },
  { number: 7, name: 'reprocessing', sql: reprocessing },
  { number: 8, name: 'version epoch', sql: versionEpoch },
  { number: 9, name: 'nightly', sql: nightly },
  { number: 10, name: 'log hole', sql: logHole },
  { number: 11, name: 'vans of a reprocessing', sql: reprocessingVans },
  { number: 12, name: 'sign-in', sql: signIn },
  { number: 13, name: 'events', sql: events },
  { number: 14, name: 'dispatch', sql: dispatch },
  { number: 15, name: 'watch of silences', sql: silenceWatch },
  { number: 16, name: 'row security', sql: rowSecurity },
  { number: 17, name: 'corrected silences', sql: correctedSilences },
  { number: 18, name: 'lineage', sql: lineage },
  { number: 19, name: 'masked keys', sql: maskedKeys },
]
