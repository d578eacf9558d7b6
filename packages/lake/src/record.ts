/** One record of the log, as the lake takes it and gives it back. */
export interface LakeRecord {
  readonly partition: number
  readonly offset: number
  readonly timestampMs: number
  readonly key: string | null
  readonly value: Uint8Array | null
  readonly headers: Readonly<Record<string, string>>
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The value as text with a BOM kept; null when there is none or it is not UTF-8. */
export function textOf(record: LakeRecord): string | null {
  if (record.value === null) return null
  try {
    return decoder.decode(record.value)
  } catch {
    return null
  }
}

/** Headers as JSON text, null without any. */
export function headersOf(record: LakeRecord): string | null {
  for (const _name in record.headers) return JSON.stringify(record.headers)
  return null
}
