import { VAN_COLUMNS } from '@km0/serving/register/register-csv'
import { importCommand } from './import-command.ts'

export const vansImport = importCommand({
  what: 'vans',
  columns: VAN_COLUMNS,
  notes: `  van is the name that the van sends (repartidor); depot the id of a registered depot; days in service are YYYY-MM-DD in Girona's time.`,
})
