import { isName, type SourcePosition } from '@km0/contracts'
import { z } from 'zod'
import { type Decoded, decodeAll, type ResultRecord, withSource } from './decode.ts'

const name = z.string().refine((text) => isName(text) && !text.includes('|'), 'is not a name')
const integer = z.number().int()

const alertValue = z.object({
  producte: name,
  mercat: name,
  inici_ms: integer,
  fi_ms: integer,
  estoc_minim: integer,
  actualitzacions: integer.min(1),
  revisio: integer.min(1).optional(),
})

const liveValue = z.object({
  producte: name,
  mercat: name,
  estoc_actual: integer,
  data_ms: integer,
  arribada_ms: integer,
  llindar: z.number(),
})

const episodeValue = z.object({
  producte: name,
  mercat: name,
  inici_ms: integer,
  fi_ms: integer.nullable(),
  estoc_minim: integer,
  llindar: z.number(),
  darrera_finestra_ms: integer,
  avisos: z.array(z.object({ motiu: z.enum(['comenca', 'meitat', 'zero']), estoc: integer, data_ms: integer })).min(1),
})

const markValue = z.object({
  particio: integer.min(0),
  offset: integer.min(0),
  marca_aigua_ms: integer.nullable(),
  fonts_ms: z.array(integer.nullable()),
  darrera_arribada_ms: integer.nullable(),
  epoca: integer.min(0),
})

interface FromSource<Value> {
  readonly key: string
  readonly source: SourcePosition
  readonly value: Value
}

export type AlertRow = FromSource<z.infer<typeof alertValue>>
export type LiveStockRow = FromSource<z.infer<typeof liveValue>>
export type EpisodeRow = FromSource<z.infer<typeof episodeValue>>
export type StockMarkRow = { readonly value: z.infer<typeof markValue> }

export const decodeAlerts = (records: readonly ResultRecord[]): Decoded<AlertRow> => decodeAll(records, alertValue, withSource)
export const decodeLiveStock = (records: readonly ResultRecord[]): Decoded<LiveStockRow> => decodeAll(records, liveValue, withSource)
export const decodeEpisodes = (records: readonly ResultRecord[]): Decoded<EpisodeRow> => decodeAll(records, episodeValue, withSource)

export function decodeStockMarks(records: readonly ResultRecord[]): Decoded<StockMarkRow> {
  return decodeAll(records, markValue, (_record, value) => ({ value }))
}
