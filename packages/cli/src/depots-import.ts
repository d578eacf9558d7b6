import { DEPOT_COLUMNS } from '@km0/serving/register/register-csv'
import { importCommand } from './import-command.ts'

export const depotsImport = importCommand({
  what: 'depots',
  columns: DEPOT_COLUMNS,
  notes: '  markets are separated by semicolons; shift_start and shift_end are local times HH:MM of every day.',
})
