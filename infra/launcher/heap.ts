/** Default of KM0_STREAM_HEAP_MIB: 100,000 vans in one process stay below 1 GB of memory (docs/delivery.md). */
export const DEFAULT_STREAM_HEAP_MIB = 750
const LEAST_HEAP_MIB = 64

/** MiB of KM0_STREAM_HEAP_MIB. Throws when the text is no number or too small to run on. */
export function parseStreamHeapMib(text: string | undefined): number {
  if (text === undefined || text === '') return DEFAULT_STREAM_HEAP_MIB
  const mib = Number(text)
  if (!/^\d+$/.test(text) || mib < LEAST_HEAP_MIB) {
    throw new Error(`KM0_STREAM_HEAP_MIB is a whole number of MiB of at least ${LEAST_HEAP_MIB}, not ${text}`)
  }
  return mib
}
