import { SHIFT_COLUMNS } from '@km0/serving/register/register-csv'
import { importCommand } from './import-command.ts'

export const shiftsImport = importCommand({
  what: 'shifts',
  columns: SHIFT_COLUMNS,
  notes: `  day is mon … sun, mon-fri, or a date YYYY-MM-DD that replaces its weekday; times are HH:MM in Girona's time, an end at or before the start
  is on the next day, no times are a day off. The calendar of each depot in the file becomes what the file says.`,
})
