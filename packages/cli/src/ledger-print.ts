import type { LedgerReport, LedgerStation, LedgerStep } from '@km0/contracts'

const RED = '\u001b[31;1m'
const PLAIN = '\u001b[0m'
const LOSSES_PRINTED = 20
const COUNT_WIDTH = 12

/** The ledger for people, lines with their ends. `colour`: what is unnamed is red. */
export function ledgerText(report: LedgerReport, colour: boolean): string {
  const { fromMs, toMs } = report.span
  const red = (text: string) => (colour ? `${RED}${text}${PLAIN}` : text)
  const lines = [
    `${iso(fromMs)} to ${iso(toMs)}, by arrival`,
    '',
    ...report.stations.map(stationLine),
    '',
    ...report.steps.flatMap((step) => stepLines(step, red)),
    ...lossLines(report),
    ...(report.basis.exact ? [] : ['retention has deleted records that the outcomes depend on: what is late or a duplicate may differ']),
    report.balanced
      ? 'It balances: every difference has a name.'
      : red(`${report.unnamed} unnamed: something is lost or doubled, or the ledger has a fault.`),
  ]
  return `${lines.join('\n')}\n`
}

const iso = (ms: number) => new Date(ms).toISOString()
const number = (count: number) => String(count).padStart(COUNT_WIDTH)

function stationLine({ name, count, certainty, parts, why }: LedgerStation): string {
  const shown = count === null ? 'unknown'.padStart(COUNT_WIDTH) : `${certainty === 'at-least' ? '≥' : ''}${count}`.padStart(COUNT_WIDTH)
  const told = parts.filter((part) => part.count > 0).map((part) => `${part.name} ${part.count}`)
  const note = count === null || certainty !== 'exact' ? (why ?? '') : ''
  return [`${name.padEnd(14)}${shown}`, told.join(', '), note === '' ? '' : `(${note})`].filter((text) => text !== '').join('  ')
}

function stepLines({ from, to, fromCount, toCount, lines, unnamed }: LedgerStep, red: (text: string) => string): string[] {
  return [
    `${from} → ${to}`,
    `  ${number(fromCount)}`,
    ...lines.map(({ cause, change }) => `  ${number(change)}  ${cause}`),
    ...(unnamed === 0 ? [] : [red(`  ${number(unnamed)}  unnamed`)]),
    `  ${number(toCount)}`,
  ]
}

function lossLines({ lost }: LedgerReport): string[] {
  if (lost.length === 0) return []
  const rows = lost
    .slice(0, LOSSES_PRINTED)
    .map(({ van, count, firstEventMs, lastEventMs }) => `  ${van}  ${count}  ${iso(firstEventMs)} to ${iso(lastEventMs)}`)
  const more = lost.length > LOSSES_PRINTED ? [`  and ${lost.length - LOSSES_PRINTED} vans more`] : []
  return ['lost at the broker, by van (event times of the first and the last):', ...rows, ...more, '']
}
