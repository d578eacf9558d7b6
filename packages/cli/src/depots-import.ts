import { importCommand } from './import-command.ts'
import { DEPOT_COLUMNS, readDepots } from './register-csv.ts'

export const depotsImport = importCommand({
  what: 'depots',
  columns: DEPOT_COLUMNS,
  notes: '  markets are separated by semicolons; shift_start and shift_end are local times HH:MM.',
  read: readDepots,
  store: (serving, rows) => serving.importDepots(rows),
})
