import type { ColumnType, LakeTable } from './tables.ts'

/** First and only commit of an exported table, in its folder `_delta_log`. */
export const DELTA_LOG_FILE = `${'0'.repeat(20)}.json`

/** A Parquet file of the table. */
export interface DeltaFile {
  /** From the table's folder, with `/`. */
  readonly path: string
  readonly rows: number
  readonly bytes: number
  readonly modifiedMs: number
  /** ISO date: the value of the partition column, which is not in the file. */
  readonly day: string
}

export interface DeltaTable {
  readonly table: LakeTable
  readonly files: readonly DeltaFile[]
  /** A UUID. */
  readonly id: string
  readonly createdMs: number
}

const TYPES: Readonly<Record<ColumnType, string>> = {
  INTEGER: 'integer',
  BIGINT: 'long',
  DOUBLE: 'double',
  VARCHAR: 'string',
  DATE: 'date',
}

/**
 * The log of a Delta table that holds these files and no others: one action a line, as "Delta Transaction Log Protocol" of delta-io/delta
 * (PROTOCOL.md) has them, reader version 1 and writer version 2. Partitioned by `event_day`.
 */
export function deltaLog({ table, files, id, createdMs }: DeltaTable): string {
  const fields = table.columns.map(({ name, type }) => ({ name, type: TYPES[type], nullable: true, metadata: {} }))
  const actions: object[] = [
    { commitInfo: { timestamp: createdMs, operation: 'CREATE TABLE AS SELECT', operationParameters: {}, isBlindAppend: true } },
    { protocol: { minReaderVersion: 1, minWriterVersion: 2 } },
    {
      metaData: {
        id,
        name: table.name,
        format: { provider: 'parquet', options: {} },
        schemaString: JSON.stringify({ type: 'struct', fields }),
        partitionColumns: ['event_day'],
        configuration: {},
        createdTime: createdMs,
      },
    },
    ...files.map(({ path, rows, bytes, modifiedMs, day }) => ({
      add: {
        path: path.split('/').map(encodeURIComponent).join('/'),
        partitionValues: { event_day: day },
        size: bytes,
        modificationTime: modifiedMs,
        dataChange: true,
        stats: JSON.stringify({ numRecords: rows }),
      },
    })),
  ]
  return actions.map((action) => `${JSON.stringify(action)}\n`).join('')
}
