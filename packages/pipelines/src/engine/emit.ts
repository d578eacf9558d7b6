import { HEADERS } from '@km0/contracts'

/**
 * Where results go: a function of the host. `partition` is -1 where the key decides; `headers` are `name=value` joined by `;`, values decimal
 * text. Only primitives cross, so that any engine can call it and be called.
 */
export type Emit = (topic: string, partition: number, key: string | null, value: string, timestampMs: number, headers: string) => void

/** Headers of a result that the record at (partition, offset) of the log has caused. */
export function sourceHeaders(epoch: number, partition: number, offset: number, battery: number | null = null): string {
  const source = `${HEADERS.epoch}=${epoch};${HEADERS.sourcePartition}=${partition};${HEADERS.sourceOffset}=${offset}`
  return battery === null ? source : `${source};${HEADERS.batteryPercent}=${battery}`
}
