import { decodeSource, isName, type SourcePosition } from '@km0/contracts'
import { z } from 'zod'

/** A record of a result topic, as the log's reader gives it. */
export interface ResultRecord {
  readonly offset: number
  readonly key: string | null
  readonly value: Buffer | null
  readonly headers: Readonly<Record<string, string>>
}

const name = z.string().refine(isName, 'is not a name')
const integer = z.number().int()
const count = integer.min(0)

const distance = z.object({
  tipus: z.literal('distancia'),
  repartidor: name,
  inici_ms: integer,
  fi_ms: integer,
  distancia_mm: count,
  posicions: count,
  salts: count,
  desplacament_mm: count,
  revisio: count.optional(),
})
const session = z.object({ tipus: z.literal('sessio'), repartidor: name, inici_ms: integer, fi_ms: integer, posicions: count })
const signal = z.object({ tipus: z.literal('senyal'), repartidor: name, estat: z.enum(['amb-senyal', 'sense-senyal']), des_de_ms: integer })
const panelValue = z.discriminatedUnion('tipus', [distance, session, signal])

const liveValue = z.object({
  repartidor: name,
  lat: z.number(),
  lon: z.number(),
  data_ms: integer,
  arribada_ms: integer,
  velocitat_mm_s: integer.nullable(),
  rumb_graus: z.number().nullable(),
  dubtos: z.boolean(),
  estat: z.enum(['en-moviment', 'aturada']),
})

const markValue = z.object({
  particio: count,
  offset: count,
  marca_aigua_ms: integer.nullable(),
  progres_ms: integer.nullable(),
  darrer_batec_ms: integer.nullable(),
  darrer_registre_ms: integer.nullable(),
  epoca: count,
})

const lateValue = z.object({ motiu: z.enum(['tard', 'parcial']), data_ms: integer, finestres_tancades: count })

const holeValue = z.object({
  motiu: z.literal('forat'),
  inici_ms: integer,
  data_ms: integer,
  des_de_offset: count,
  fins_offset: count,
})

const outageValue = z.object({
  tipus: z.literal('tall'),
  particio: count,
  inici_ms: integer,
  fi_ms: integer,
  causa: z.enum(['pont', 'broker', 'kafka', 'endarreriment']).nullable(),
  epoca: count,
  offset: count,
})

export type PanelRow = { readonly key: string; readonly source: SourcePosition; readonly value: z.infer<typeof panelValue> }
export type LiveRow = { readonly key: string; readonly source: SourcePosition; readonly value: z.infer<typeof liveValue> }
export type LateRow = {
  readonly key: string
  readonly source: SourcePosition
  readonly value: z.infer<typeof lateValue> | z.infer<typeof holeValue>
}
export type MarkRow = { readonly value: z.infer<typeof markValue> | z.infer<typeof outageValue> }

/** A record that cannot be stored, and why. Whoever writes our result topics but us is a fault of the installation: counted and said. */
export interface RefusedResult {
  readonly offset: number
  readonly reason: string
}

export interface Decoded<Row> {
  readonly rows: readonly Row[]
  readonly refused: readonly RefusedResult[]
}

export function decodePanel(records: readonly ResultRecord[]): Decoded<PanelRow> {
  return decodeAll(records, panelValue, withSource)
}

export function decodeLive(records: readonly ResultRecord[]): Decoded<LiveRow> {
  return decodeAll(records, liveValue, withSource)
}

export function decodeLate(records: readonly ResultRecord[]): Decoded<LateRow> {
  return decodeAll(records, z.union([lateValue, holeValue]), withSource)
}

/** Marks of partitions, and the outages of ours that stand in their topic. */
export function decodeMarks(records: readonly ResultRecord[]): Decoded<MarkRow> {
  return decodeAll(records, z.union([outageValue, markValue]), (_record, value) => ({ value }))
}

/** Adds key and source. Returns the reason when one is missing. */
export function withSource<Value>(record: ResultRecord, value: Value): { key: string; source: SourcePosition; value: Value } | string {
  if (record.key === null) return 'no key'
  const source = decodeSource(record.headers)
  return source === null ? 'no source position in the headers' : { key: record.key, source, value }
}

/** Decodes records of a result topic with a schema; `complete` adds what the value lacks, or says why it cannot. */
export function decodeAll<Schema extends z.ZodType, Row>(
  records: readonly ResultRecord[],
  schema: Schema,
  complete: (record: ResultRecord, value: z.infer<Schema>) => Row | string,
): Decoded<Row> {
  const rows: Row[] = []
  const refused: RefusedResult[] = []
  for (const record of records) {
    // A tombstone: compaction's way to say that a key is gone. Rows go by retention, not by it.
    if (record.value === null) continue
    const row = decodeOne(record, record.value, schema, complete)
    if (typeof row === 'string') refused.push({ offset: record.offset, reason: row })
    else rows.push(row)
  }
  return { rows, refused }
}

function decodeOne<Schema extends z.ZodType, Row>(
  record: ResultRecord,
  bytes: Buffer,
  schema: Schema,
  complete: (record: ResultRecord, value: z.infer<Schema>) => Row | string,
): Row | string {
  let json: unknown
  try {
    json = JSON.parse(bytes.toString('utf8'))
  } catch {
    return 'not JSON'
  }
  const parsed = schema.safeParse(json)
  if (parsed.success) return complete(record, parsed.data)
  const issue = parsed.error.issues[0]
  return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'does not fit'}`
}
