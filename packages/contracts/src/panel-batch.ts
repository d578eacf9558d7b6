/**
 * Vans that have just moved, packed for the socket: 16 bytes of header, then 16 a van. A batch is for the eyes alone: it may be lost on a slow
 * line, and the delta of the same second tells all of it again.
 *
 * header: float64 time of the platform, float64 clock of the server's machine when it was made.
 * van: uint32 slot << 8 | flags, int32 latitude and int32 longitude in 1e-7 degrees, uint32 heading << 24 | (platform time - event time + 2^23) ms.
 */

const HEADER_BYTES = 16
const BYTES_PER_VAN = 16
const SLOT_MAX = 2 ** 24 - 1
const DEGREE_PARTS = 1e7
/** A point may be so much older or newer than the batch: 2 h 19 min. */
const AGE_HALF_MS = 2 ** 23
const HEADING_STEPS = 256

const FLAG_DOUBTFUL = 1
const FLAG_STOPPED = 2
const FLAG_HEADING = 4

/** One van of a batch. `headingDegrees` comes back in steps of 1.4 degrees. */
export interface BatchPoint {
  /** The number that a `PanelPoint` has as `slot`. */
  readonly slot: number
  readonly lat: number
  readonly lon: number
  readonly eventMs: number
  readonly headingDegrees: number | null
  readonly doubtful: boolean
  readonly motion: 'moving' | 'stopped'
}

export interface PointBatch {
  /** Time of the platform. */
  readonly nowMs: number
  /** Clock of the machine that the server runs on, when the batch was made. */
  readonly sentMs: number
  readonly points: readonly BatchPoint[]
}

/** The packed batch. Points that do not fit (a slot beyond 2^24, more than two hours from `nowMs`) are left to the delta. */
export function encodeBatch(batch: PointBatch): Uint8Array {
  const fitting = batch.points.filter(
    ({ slot, eventMs }) => slot >= 0 && slot <= SLOT_MAX && eventMs > batch.nowMs - AGE_HALF_MS && eventMs < batch.nowMs + AGE_HALF_MS,
  )
  const bytes = new Uint8Array(HEADER_BYTES + fitting.length * BYTES_PER_VAN)
  const view = new DataView(bytes.buffer)
  view.setFloat64(0, batch.nowMs)
  view.setFloat64(8, batch.sentMs)
  fitting.forEach((point, index) => {
    const at = HEADER_BYTES + index * BYTES_PER_VAN
    const flags =
      (point.doubtful ? FLAG_DOUBTFUL : 0) |
      (point.motion === 'stopped' ? FLAG_STOPPED : 0) |
      (point.headingDegrees === null ? 0 : FLAG_HEADING)
    const heading = Math.round(((point.headingDegrees ?? 0) / 360) * HEADING_STEPS) % HEADING_STEPS
    view.setUint32(at, point.slot * 256 + flags)
    view.setInt32(at + 4, Math.round(point.lat * DEGREE_PARTS))
    view.setInt32(at + 8, Math.round(point.lon * DEGREE_PARTS))
    view.setUint32(at + 12, heading * 2 ** 24 + Math.round(batch.nowMs - point.eventMs) + AGE_HALF_MS)
  })
  return bytes
}

/** The batch that `encodeBatch` was given. Throws a RangeError when the length is none of a batch. */
export function decodeBatch(given: ArrayBuffer | Uint8Array): PointBatch {
  const bytes = given instanceof Uint8Array ? given : new Uint8Array(given)
  if (bytes.length < HEADER_BYTES || (bytes.length - HEADER_BYTES) % BYTES_PER_VAN !== 0)
    throw new RangeError(`a batch of points cannot have ${bytes.length} bytes`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const nowMs = view.getFloat64(0)
  const points: BatchPoint[] = []
  for (let at = HEADER_BYTES; at < bytes.length; at += BYTES_PER_VAN) {
    const slotAndFlags = view.getUint32(at)
    const headingAndAge = view.getUint32(at + 12)
    points.push({
      slot: slotAndFlags >>> 8,
      lat: view.getInt32(at + 4) / DEGREE_PARTS,
      lon: view.getInt32(at + 8) / DEGREE_PARTS,
      eventMs: nowMs - ((headingAndAge & 0xff_ff_ff) - AGE_HALF_MS),
      headingDegrees: (slotAndFlags & FLAG_HEADING) === 0 ? null : ((headingAndAge >>> 24) * 360) / HEADING_STEPS,
      doubtful: (slotAndFlags & FLAG_DOUBTFUL) !== 0,
      motion: (slotAndFlags & FLAG_STOPPED) === 0 ? 'moving' : 'stopped',
    })
  }
  return { nowMs, sentMs: view.getFloat64(8), points }
}
