import type { Client } from '../pool.ts'

/** A table as the catalog of PostgreSQL has it, as far as its rows can be put back by it. */
export interface TableDescription {
  readonly schema: string
  readonly name: string
  /** In their order; those that are computed from others are left out. */
  readonly columns: readonly ColumnDescription[]
  /** Definitions of its primary key and of what is unique. */
  readonly constraints: readonly string[]
  /** Definition of a partition's bounds by its name; empty where the table has none. */
  readonly partitions: Readonly<Record<string, string>>
}

export interface ColumnDescription {
  readonly name: string
  readonly type: string
  readonly notNull: boolean
  /** Numbers come from a sequence of the column's own. */
  readonly identity: boolean
}

/** An SQL identifier. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
export const tableName = ({ schema, name }: Pick<TableDescription, 'schema' | 'name'>): string => `${quoted(schema)}.${quoted(name)}`

/** Tables of these schemas by name; a partition belongs to its table. Sequences' positions are those of the rows' greatest numbers. */
export async function describeTables(client: Client, schemas: readonly string[]): Promise<TableDescription[]> {
  const { rows: tables } = await client.query<{ schema: string; name: string; oid: number }>(
    `select n.nspname as schema, c.relname as name, c.oid::int8 as oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any($1) and c.relkind in ('r', 'p') and not c.relispartition order by 1, 2`,
    [schemas],
  )
  const described: TableDescription[] = []
  for (const { schema, name, oid } of tables) {
    const { rows: columns } = await client.query<ColumnDescription>(
      `select attname as name, format_type(atttypid, atttypmod) as type, attnotnull as "notNull", attidentity <> '' as identity
       from pg_attribute where attrelid = $1 and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
      [oid],
    )
    const { rows: constraints } = await client.query<{ text: string }>(
      `select pg_get_constraintdef(oid) as text from pg_constraint where conrelid = $1 and contype in ('p', 'u') order by contype, conname`,
      [oid],
    )
    const { rows: partitions } = await client.query<{ name: string; bounds: string }>(
      `select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bounds from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = $1 and c.relispartition order by 1`,
      [oid],
    )
    described.push({
      schema,
      name,
      columns,
      constraints: constraints.map(({ text }) => text),
      partitions: Object.fromEntries(partitions.map((partition) => [partition.name, partition.bounds])),
    })
  }
  return described
}

/** Tables so that each comes after those that its foreign keys name. */
export async function inOrderOfKeys(client: Client, tables: readonly TableDescription[]): Promise<TableDescription[]> {
  const { rows } = await client.query<{ child: string; parent: string }>(
    `select format('%I.%I', n.nspname, c.relname) as child, format('%I.%I', pn.nspname, p.relname) as parent
     from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
     join pg_class p on p.oid = k.confrelid join pg_namespace pn on pn.oid = p.relnamespace
     where k.contype = 'f' and k.conrelid <> k.confrelid`,
  )
  const plain = ({ schema, name }: TableDescription) => `${schema}.${name}`
  const left = new Map(tables.map((table) => [plain(table), table]))
  const ordered: TableDescription[] = []
  while (left.size > 0) {
    const free = [...left].filter(([key]) => !rows.some(({ child, parent }) => child === key && left.has(parent)))
    if (free.length === 0) throw new Error(`foreign keys go round in a circle: ${[...left.keys()].join(', ')}`)
    for (const [key, table] of free) {
      left.delete(key)
      ordered.push(table)
    }
  }
  return ordered
}
