/** A cell: text is quoted where it must be, a number stands as it is (decimal point, no grouping), null is empty. */
export type CsvCell = string | number | null

export interface CsvOptions {
  /** Leads with the byte order mark by which some spreadsheets know UTF-8. */
  readonly bom?: boolean
}

/** RFC 4180: fields with commas, lines end in CR LF. A text that a spreadsheet would run as a formula is led by an apostrophe. */
export function csvText(columns: readonly string[], rows: Iterable<readonly CsvCell[]>, { bom = false }: CsvOptions = {}): string {
  const lines = [columns.join(',')]
  for (const row of rows) lines.push(row.map(field).join(','))
  return `${bom ? '\uFEFF' : ''}${lines.join('\r\n')}\r\n`
}

function field(cell: CsvCell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const safe = /^\s*[=+\-@\t\r＝＋－＠]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
