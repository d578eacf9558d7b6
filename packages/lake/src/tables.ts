import { TOPICS, type TopicName } from '@km0/contracts'

export type ColumnType = 'INTEGER' | 'BIGINT' | 'DOUBLE' | 'VARCHAR' | 'DATE'

export interface Column {
  readonly name: string
  readonly type: ColumnType
}

/** A table holds what one topic brought. */
export interface LakeTable {
  readonly name: string
  readonly topic: TopicName
  readonly columns: readonly Column[]
  /** Order of rows within a file, so that one owner's rows lie together. */
  readonly sortedBy: readonly string[]
  readonly holds: string
}

/** What a row may hold; DATE as days since 1970-01-01. */
export type LakeValue = string | number | null
/** Values in the order of the table's columns. */
export type LakeRow = readonly LakeValue[]

const column = (name: string, type: ColumnType): Column => ({ name, type })

/** Of every table. (epoch, kafka_partition, kafka_offset) names a record for ever. */
const LOG_COLUMNS = [
  column('epoch', 'INTEGER'),
  column('kafka_partition', 'INTEGER'),
  column('kafka_offset', 'BIGINT'),
  column('arrival_ms', 'BIGINT'),
  column('key', 'VARCHAR'),
  column('headers', 'VARCHAR'),
  column('value', 'VARCHAR'),
  column('event_day', 'DATE'),
] as const

const SIDE_COLUMNS = [
  ...LOG_COLUMNS,
  column('reason', 'VARCHAR'),
  column('event_ms', 'BIGINT'),
  column('source_partition', 'INTEGER'),
  column('source_offset', 'BIGINT'),
]
const SIDE_ORDER = ['kafka_partition', 'kafka_offset']

/** `value` of a position is null when it is our own payload in its usual form: it is rebuilt from the other columns. */
export const POSITIONS: LakeTable = {
  name: 'positions',
  topic: TOPICS.positions.name,
  columns: [
    ...LOG_COLUMNS,
    column('kind', 'VARCHAR'),
    column('van', 'VARCHAR'),
    column('event_ms', 'BIGINT'),
    column('lat', 'DOUBLE'),
    column('lon', 'DOUBLE'),
  ],
  sortedBy: ['van', 'event_ms', 'kafka_partition', 'kafka_offset'],
  holds: 'positions that rules 1 and 2 of section 3 accept, late or not, heartbeats and settings',
}

export const STOCK_EVENTS: LakeTable = {
  name: 'stock_events',
  topic: TOPICS.stockEvents.name,
  columns: [
    ...LOG_COLUMNS,
    column('kind', 'VARCHAR'),
    column('product', 'VARCHAR'),
    column('market', 'VARCHAR'),
    column('event_ms', 'BIGINT'),
    column('stock', 'BIGINT'),
    column('event_id', 'VARCHAR'),
  ],
  sortedBy: ['product', 'market', 'event_ms', 'kafka_partition', 'kafka_offset'],
  holds: 'stock events that pass the checks of section 6, heartbeats and settings',
}

const side = (name: string, topic: TopicName, holds: string): LakeTable => ({
  name,
  topic,
  columns: SIDE_COLUMNS,
  sortedBy: SIDE_ORDER,
  holds,
})

export const LATE_POSITIONS = side('late_positions', TOPICS.late.name, 'late side output of positions')
export const DEAD_LETTERS = side(
  'dead_letters',
  TOPICS.deadLetters.name,
  'refused positions, with reason and original bytes; day of arrival',
)
export const LATE_STOCK = side('late_stock', TOPICS.stockLate.name, 'late side output of stock')
export const STOCK_DEAD_LETTERS = side('stock_dead_letters', TOPICS.stockDeadLetters.name, 'refused stock events; day of arrival')

export const LAKE_TABLES: readonly LakeTable[] = [POSITIONS, STOCK_EVENTS, LATE_POSITIONS, DEAD_LETTERS, LATE_STOCK, STOCK_DEAD_LETTERS]

/** The table that a topic goes to; null for a topic that the lake does not keep. */
export function tableOf(topic: string): LakeTable | null {
  return LAKE_TABLES.find((table) => table.topic === topic) ?? null
}

/** Each Kafka partition has a table of its own for its offset: writers of different partitions never conflict, two of one always do. */
export function offsetsTable(table: LakeTable, partition: number): string {
  return `offsets_${table.name}_${partition}`
}

/** A partition of a table. */
export interface LakePlace {
  readonly table: LakeTable
  readonly partition: number
}

/** Whose offset a table of that name holds; null for another table. */
export function tableOfOffsets(name: string): LakePlace | null {
  for (const table of LAKE_TABLES) {
    const partition = Number(/_(\d+)$/.exec(name)?.[1])
    if (name === offsetsTable(table, partition)) return { table, partition }
  }
  return null
}

/** As a text. */
export function placeOf(table: LakeTable, partition: number): string {
  return `${table.name}/${partition}`
}

const DAY_MS = 86_400_000

/** UTC day of an instant, as days since 1970-01-01. */
export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS)
}

/** Condition by which a statement reads the files of these days alone, both included; `of`: prefix of the column, `l.`. */
export function onEventDays(firstDay: number, lastDay: number, of = ''): string {
  return `${of}event_day >= DATE '1970-01-01' + ${firstDay} AND ${of}event_day <= DATE '1970-01-01' + ${lastDay}`
}
