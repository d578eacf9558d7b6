/** Values of the stock topics as they stand on the wire; section 6 of docs/semantics.md, and docs/stock.md. */

/** Value of `inventari.alertes`: a window whose minimum was below the threshold. */
export interface StockAlertValue {
  readonly producte: string
  readonly mercat: string
  readonly inici_ms: number
  readonly fi_ms: number
  readonly estoc_minim: number
  readonly actualitzacions: number
  readonly revisio?: number
}

/** Value of `inventari.viu`: newest known stock of a product in a market by event time, late events included. */
export interface LiveStockValue {
  readonly producte: string
  readonly mercat: string
  readonly estoc_actual: number
  readonly data_ms: number
  readonly arribada_ms: number
  /** Below it the stock is low. */
  readonly llindar: number
}

/** Why people are told of an episode: it begins, its minimum has halved since, its minimum has reached 0. */
export type StockNoticeKind = 'comenca' | 'meitat' | 'zero'

export interface StockNotice {
  readonly motiu: StockNoticeKind
  readonly estoc: number
  /** Arrival time of the record that caused it. */
  readonly data_ms: number
}

/** Value of `inventari.episodis`: low stock of a product in a market, from its first low window until the newest stock is not low. */
export interface StockEpisodeValue {
  readonly producte: string
  readonly mercat: string
  /** Start of the first low window. */
  readonly inici_ms: number
  /** Event time of the stock that ended it; null while it lasts. */
  readonly fi_ms: number | null
  readonly estoc_minim: number
  readonly llindar: number
  /** Start of the last low window so far. */
  readonly darrera_finestra_ms: number
  readonly avisos: readonly StockNotice[]
}

/** Value of `inventari.marques`: how far one partition of the shuffle's topic has been windowed. */
export interface StockMarkValue {
  readonly particio: number
  /** Next offset to read. */
  readonly offset: number
  /** Minimum over the source partitions; null before each of them has been heard. */
  readonly marca_aigua_ms: number | null
  /** Watermark of each source partition; null before its first record that counts. */
  readonly fonts_ms: readonly (number | null)[]
  /** Arrival time of the newest record of any kind. */
  readonly darrera_arribada_ms: number | null
  readonly epoca: number
}

/** Key of an alert and of the episode that begins with its window. */
export function stockWindowKey(startMs: number, product: string, market: string): string {
  return `${startMs}|${product}|${market}`
}
