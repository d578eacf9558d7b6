import { parseArgs } from 'node:util'
import { type LakeStatus, lakeStatus, type Seam, seamOf, tableOf } from '@km0/lake'
import { LogUnavailableError, openLog } from '@km0/transport'
import { AddressesError, findBrokers } from './addresses.ts'
import type { Command } from './command.ts'
import { LAKE_ADDRESS_HELP, withLake } from './lake-open.ts'
import { asTable } from './lake-sql.ts'

export const lakeStatusCommand: Command = {
  words: ['lake', 'status'],
  summary: 'what the lake holds, and whether it meets the log',
  help: `km0 lake status [--json]

  Rows, files and days of each table; how far the lake is in each partition; holes; and the seam with Kafka: whether every record that the
  lake has not is still in the log. Exits 1 when there is a hole between them, or the lake holds another log.
  ${LAKE_ADDRESS_HELP} Without KAFKA_BROKERS the seam is not looked at, and it says so.`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { json: { type: 'boolean', default: false } } })
    const status = await withLake(true, lakeStatus)
    const seams = await seamsOf(status)
    if (values.json) process.stdout.write(`${JSON.stringify({ ...status, seams }, null, 2)}\n`)
    else process.stdout.write(asText(status, seams))
    return seams?.some(({ state }) => state !== 'closed') ? 1 : 0
  },
}

/** Only the newest epoch of a partition meets the log that is there now. null when the log cannot be asked. */
async function seamsOf(status: LakeStatus): Promise<Seam[] | null> {
  try {
    const log = openLog({ brokers: findBrokers(process.env), clientId: 'km0-cli' })
    const seams: Seam[] = []
    for (const topic of new Set(status.partitions.map((partition) => partition.topic))) {
      const table = tableOf(topic)
      if (table === null) continue
      const [starts, ends] = [await log.startOffsets(topic), await log.endOffsets(topic)]
      const epoch = Math.max(...status.partitions.filter((row) => row.topic === topic).map((row) => row.epoch))
      for (const [partition, logEnd] of [...ends].sort(([a], [b]) => a - b)) {
        const row = status.partitions.find((known) => known.topic === topic && known.partition === partition && known.epoch === epoch)
        seams.push(seamOf(table, partition, row?.nextOffset ?? 0, starts.get(partition) ?? 0, logEnd))
      }
    }
    return seams
  } catch (error) {
    if (error instanceof AddressesError || error instanceof LogUnavailableError) return null
    throw error
  }
}

const iso = (ms: number | null) => (ms === null ? '' : new Date(ms).toISOString())

function asText(status: LakeStatus, seams: Seam[] | null): string {
  const tables = asTable({
    columns: ['table', 'rows', 'files', 'MiB', 'days', 'from', 'to'],
    rows: status.tables.map(({ table, rows, files, bytes, days, firstDay, lastDay }) => [
      table,
      String(rows),
      String(files),
      (bytes / 1_048_576).toFixed(1),
      String(days),
      firstDay,
      lastDay,
    ]),
  })
  const partitions = asTable({
    columns: ['table', 'partition', 'epoch', 'next offset', 'newest arrival', 'newest event', 'log from', 'log to', 'seam'],
    rows: status.partitions.map(({ table, partition, epoch, nextOffset, newestArrivalMs, newestEventMs }) => {
      const seam = seams?.find((known) => known.table === table && known.partition === partition && known.lakeNext === nextOffset)
      const log =
        seam === undefined ? ['', '', seams === null ? 'not looked at' : ''] : [String(seam.logStart), String(seam.logEnd), seam.state]
      return [table, String(partition), String(epoch), String(nextOffset), iso(newestArrivalMs), iso(newestEventMs), ...log]
    }),
  })
  const holes = status.holes.map(
    ({ table, partition, fromOffset, toOffset, foundMs }) =>
      `hole: ${table} partition ${partition}, offsets ${fromOffset} to ${toOffset - 1} were gone before the lake had them (found ${iso(foundMs)})\n`,
  )
  return `version ${status.snapshot}\n\n${tables}\n${partitions}${holes.length > 0 ? `\n${holes.join('')}` : ''}`
}
