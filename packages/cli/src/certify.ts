import { parseArgs } from 'node:util'
import { EVERYTHING } from '@km0/contracts'
import { type Certificate, HOUR_MS, openServing, type ServedRow, type Serving } from '@km0/serving'
import { findDatabaseUrl } from './addresses.ts'
import { compareHour, type HourComparison, type RowDifference } from './certify-compare.ts'
import { type RecomputedHour, recomputeHour } from './certify-recompute.ts'
import { type Command, CommandError } from './command.ts'
import { instantOf, LAKE_ADDRESS_HELP, withLake } from './lake-open.ts'
import { pipelineRules } from './pipeline-rules.ts'

const SHOW_POINTS = 5

export const certify: Command = {
  words: ['certify'],
  summary: 'recompute a closed hour from the lake and compare it with what is served',
  help: `km0 certify --hour TIME [--show N] [--json]

  Recomputes the windows that end in the hour and the sessions that begin in it from the lake, late points in, and compares them, and a
  hash over them, with what is served. Says which rows differ, and which late points can be why. The result is kept as a certificate.
  TIME is any instant of the hour, e.g. 2026-03-29T08:00Z. The hour must be closed: every partition's final mark has passed its end in the lake.
  --show N   how many rows that differ to print, default 20
  Exit code: 0 equal, 1 rows differ and late points explain all of them, 3 a row differs and nothing explains it.
  ${LAKE_ADDRESS_HELP}`,
  run: async (args) => {
    const text = { type: 'string' } as const
    const { values } = parseArgs({
      args: [...args],
      options: { hour: text, show: { ...text, default: '20' }, json: { type: 'boolean', default: false } },
    })
    if (values.hour === undefined) throw new CommandError('say which: --hour 2026-03-29T08:00Z')
    if (!/^\d{1,6}$/.test(values.show)) throw new CommandError(`--show ${values.show}: a whole number`)
    const hourMs = Math.floor(instantOf('hour', values.hour) / HOUR_MS) * HOUR_MS
    const settings = pipelineRules('km0')
    const serving = openServing({ databaseUrl: findDatabaseUrl(process.env), applicationName: 'km0-cli' })
    try {
      await serving.migrate()
      const liveMs = Math.min(
        ...[...(await serving.readMarks()).values()].map(({ watermarkMs }) => watermarkMs ?? Number.NEGATIVE_INFINITY),
      )
      const recomputed = await withLake(true, (lake) => recomputeHour(lake, hourMs, settings, liveMs))
      const served = await serving.readHour(hourMs)
      const comparison = compareHour(served, recomputed.rows, await dirtyOf(serving, hourMs, settings), settings)
      const certificate = certificateOf(hourMs, recomputed, served, comparison)
      await serving.storeCertificate(certificate)
      const shown = comparison.differences.slice(0, Number(values.show))
      process.stdout.write(
        values.json ? `${JSON.stringify({ ...certificate, differences: shown }, null, 2)}\n` : asText(certificate, shown),
      )
      return certificate.result === 'equal' ? 0 : certificate.result === 'explained' ? 1 : 3
    } finally {
      await serving.close()
    }
  },
}

/** Dirty hours of this hour alone, whatever of them is published. */
async function dirtyOf(serving: Serving, hourMs: number, settings: ReturnType<typeof pipelineRules>) {
  const rules = { ...settings, maxGapMs: settings.maxAgeMs }
  // A session that begins in the hour may be touched by a point of days later.
  const range = { fromMs: hourMs - HOUR_MS, toMs: hourMs + 14 * 24 * HOUR_MS }
  const hours = await serving.readDirtyHours(EVERYTHING, { ...range, rules, evenIfPublished: true })
  return hours.filter((hour) => hour.hourMs === hourMs)
}

function certificateOf(
  hourMs: number,
  { snapshot, rows, openSessions }: RecomputedHour,
  served: readonly ServedRow[],
  comparison: HourComparison,
): Certificate {
  const { differences, hashServed, hashRecomputed, result } = comparison
  const points = new Set(differences.flatMap(({ van, because }) => because.map(({ eventMs }) => `${van}|${eventMs}`)))
  const unexplained = differences.filter(({ because }) => because.length === 0).length
  const detail = [
    ...(points.size > 0 ? [`${points.size} late points of ${new Set(differences.map(({ van }) => van)).size} vans`] : []),
    ...(unexplained > 0 ? [`${unexplained} rows that no late point explains`] : []),
    ...(openSessions > 0 ? [`${openSessions} sessions still open, not compared`] : []),
  ].join('; ')
  return {
    ...{
      hourMs,
      snapshot,
      versions: versionsOf(served),
      rowsServed: served.length,
      rowsRecomputed: rows.length,
      rowsDifferent: differences.length,
    },
    ...{ hashServed, hashRecomputed, result, detail, atMs: Date.now() },
  }
}

/** `1, 7 and live`; empty when all rows are live. */
function versionsOf(served: readonly ServedRow[]): string {
  const versions = [...new Set(served.flatMap(({ version }) => (version === null ? [] : [version])))].sort((a, b) => a - b)
  if (versions.length === 0) return ''
  return `${versions.join(', ')}${served.some(({ version }) => version === null) ? ' and live' : ''}`
}

const iso = (ms: number) => new Date(ms).toISOString()

function asText(certificate: Certificate, shown: readonly RowDifference[]): string {
  const { hourMs, snapshot, versions, rowsServed, rowsRecomputed, rowsDifferent, hashServed, hashRecomputed, result, detail } = certificate
  const lines = [
    `hour ${iso(hourMs)}, version ${snapshot} of the lake`,
    `served:     ${rowsServed} rows, ${hashServed}${versions === '' ? '' : `, version ${versions}`}`,
    `recomputed: ${rowsRecomputed} rows, ${hashRecomputed}`,
    `${result}: ${rowsDifferent} rows differ${detail === '' ? '' : ` (${detail})`}`,
  ]
  for (const { key, served, recomputed, because } of shown) {
    lines.push(`  ${key}`, `    served:     ${served ?? 'no such row'}`, `    recomputed: ${recomputed ?? 'no such row'}`)
    for (const { eventMs, reason, partition, offset } of because.slice(0, SHOW_POINTS))
      lines.push(`    late point: ${iso(eventMs)} ${reason}, partition ${partition} offset ${offset}`)
    if (because.length > SHOW_POINTS) lines.push(`    … and ${because.length - SHOW_POINTS} more late points`)
    if (because.length === 0) lines.push('    no late point explains it')
  }
  if (rowsDifferent > shown.length) lines.push(`  … and ${rowsDifferent - shown.length} more rows`)
  return `${lines.join('\n')}\n`
}
