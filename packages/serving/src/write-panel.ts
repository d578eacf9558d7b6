import { bulkInsert, type Column, replacing } from './bulk-insert.ts'
import type { DayPartitions } from './day-partitions.ts'
import { decodePanel, type PanelRow, type RefusedResult, type ResultRecord } from './decode.ts'
import { FORWARD_SQL, newestByKey } from './forward.ts'
import { type AppliedBatch, lockOffset, moveOffset } from './offsets.ts'
import type { Client, Pool } from './pool.ts'

export interface PanelBatch extends AppliedBatch {
  readonly records: readonly ResultRecord[]
  /** Time of the platform; stored with each row. */
  readonly writtenAtMs: number
}

export interface AppliedPanel {
  /** `fi_ms` of each distance row that this batch brought. */
  readonly distanceEndsMs: readonly number[]
  readonly rows: number
  readonly refused: readonly RefusedResult[]
}

type Row<Kind extends PanelRow['value']['tipus']> = PanelRow & { readonly value: Extract<PanelRow['value'], { tipus: Kind }> }

const ofKind = <Kind extends PanelRow['value']['tipus']>(rows: readonly PanelRow[], kind: Kind): Row<Kind>[] =>
  rows.filter((row): row is Row<Kind> => row.value.tipus === kind)

/** Applies records of the panel topic and moves the offset, in one transaction. What was applied before is passed over. */
export async function applyPanelBatch(pool: Pool, days: DayPartitions, batch: PanelBatch): Promise<AppliedPanel> {
  const { rows, refused } = decodePanel(batch.records)
  await days.ensure(
    'distance_row',
    ofKind(rows, 'distancia').map((row) => row.value.fi_ms),
  )
  await days.ensure(
    'session_row',
    ofKind(rows, 'sessio').map((row) => row.value.inici_ms),
  )
  return pool.transaction('begin', async (client) => {
    const applied = await lockOffset(client, batch)
    if (applied >= batch.nextOffset) return { distanceEndsMs: [], rows: 0, refused: [] }
    const distances = newestByKey(ofKind(rows, 'distancia'))
    await writeDistances(client, distances, batch.writtenAtMs)
    await writeSessions(client, newestByKey(ofKind(rows, 'sessio')), batch.writtenAtMs)
    await writeSignals(client, ofKind(rows, 'senyal'), batch.writtenAtMs)
    await moveOffset(client, batch)
    return { distanceEndsMs: distances.map((row) => row.value.fi_ms), rows: rows.length, refused }
  })
}

function sourceColumns(rows: readonly PanelRow[], writtenAtMs: number | null): Column[] {
  const columns: Column[] = [
    { name: 'epoch', type: 'integer', values: rows.map((row) => row.source.epoch) },
    { name: 'source_partition', type: 'integer', values: rows.map((row) => row.source.partition) },
    { name: 'source_offset', type: 'bigint', values: rows.map((row) => row.source.offset) },
  ]
  if (writtenAtMs !== null) columns.push({ name: 'written_at_ms', type: 'bigint', values: rows.map(() => writtenAtMs) })
  return columns
}

async function upsertForward(client: Client, table: string, key: readonly string[], columns: readonly Column[]): Promise<void> {
  const rest = columns.map((column) => column.name).filter((name) => !key.includes(name))
  await bulkInsert(client, table, columns, `(${key.join(', ')}) do update set ${replacing(rest)} where ${FORWARD_SQL}`)
}

function writeDistances(client: Client, rows: readonly Row<'distancia'>[], writtenAtMs: number): Promise<void> {
  return upsertForward(
    client,
    'distance_row',
    ['van', 'window_end_ms'],
    [
      { name: 'van', type: 'text', values: rows.map(({ value }) => value.repartidor) },
      { name: 'window_start_ms', type: 'bigint', values: rows.map(({ value }) => value.inici_ms) },
      { name: 'window_end_ms', type: 'bigint', values: rows.map(({ value }) => value.fi_ms) },
      { name: 'distance_mm', type: 'bigint', values: rows.map(({ value }) => value.distancia_mm) },
      { name: 'positions', type: 'integer', values: rows.map(({ value }) => value.posicions) },
      { name: 'jumps', type: 'integer', values: rows.map(({ value }) => value.salts) },
      { name: 'displacement_mm', type: 'bigint', values: rows.map(({ value }) => value.desplacament_mm) },
      { name: 'revision', type: 'integer', values: rows.map(({ value }) => value.revisio ?? 0) },
      ...sourceColumns(rows, writtenAtMs),
    ],
  )
}

function writeSessions(client: Client, rows: readonly Row<'sessio'>[], writtenAtMs: number): Promise<void> {
  return upsertForward(
    client,
    'session_row',
    ['van', 'start_ms'],
    [
      { name: 'van', type: 'text', values: rows.map(({ value }) => value.repartidor) },
      { name: 'start_ms', type: 'bigint', values: rows.map(({ value }) => value.inici_ms) },
      { name: 'end_ms', type: 'bigint', values: rows.map(({ value }) => value.fi_ms) },
      { name: 'positions', type: 'integer', values: rows.map(({ value }) => value.posicions) },
      ...sourceColumns(rows, writtenAtMs),
    ],
  )
}

/** The state in force, and the history of silences: one begins with `sense-senyal` and is ended by the next `amb-senyal`. */
async function writeSignals(client: Client, rows: readonly Row<'senyal'>[], writtenAtMs: number): Promise<void> {
  const newest = newestByKey(rows)
  await upsertForward(
    client,
    'signal_state',
    ['van'],
    [
      { name: 'van', type: 'text', values: newest.map(({ value }) => value.repartidor) },
      { name: 'state', type: 'text', values: newest.map(({ value }) => (value.estat === 'amb-senyal' ? 'signal' : 'no-signal')) },
      { name: 'since_ms', type: 'bigint', values: newest.map(({ value }) => value.des_de_ms) },
      ...sourceColumns(newest, writtenAtMs),
    ],
  )
  const silences = newestByKey(
    rows
      .filter(({ value }) => value.estat === 'sense-senyal')
      .map((row) => ({ ...row, key: `${row.value.repartidor}\u0000${row.value.des_de_ms}` })),
  )
  await bulkInsert(
    client,
    'no_signal_episode',
    [
      { name: 'van', type: 'text', values: silences.map(({ value }) => value.repartidor) },
      { name: 'since_ms', type: 'bigint', values: silences.map(({ value }) => value.des_de_ms) },
      ...sourceColumns(silences, null),
    ],
    '(van, since_ms) do nothing',
  )
  const returns = rows.filter(({ value }) => value.estat === 'amb-senyal')
  if (returns.length === 0) return
  // The first return after a silence ends it, however often and in whatever order they are applied.
  await client.query(
    `update km0.no_signal_episode e set ended_ms = r.back_ms
     from (select s.van, s.since_ms, min(b.back_ms) as back_ms
           from unnest($1::text[], $2::bigint[]) as b (van, back_ms)
           join lateral (select van, since_ms from km0.no_signal_episode where van = b.van and since_ms < b.back_ms order by since_ms desc limit 1) s on true
           group by s.van, s.since_ms) r
     where e.van = r.van and e.since_ms = r.since_ms and (e.ended_ms is null or e.ended_ms > r.back_ms)`,
    [returns.map(({ value }) => value.repartidor), returns.map(({ value }) => value.des_de_ms)],
  )
}
