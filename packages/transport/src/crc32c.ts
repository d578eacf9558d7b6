/** CRC-32C (Castagnoli), reflected polynomial; RFC 3720, section 12.1. */
const POLYNOMIAL = 0x82f63b78
/** Bytes that are taken at once: M. Kounavis and F. Berry, "A Systematic Approach to Building High Performance, Software-based, CRC Generators", 2005. */
const SLICES = 8

const TABLES = buildTables()

function buildTables(): Int32Array[] {
  const tables = Array.from({ length: SLICES }, () => new Int32Array(256))
  for (let byte = 0; byte < 256; byte += 1) {
    let crc = byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1
    tables[0]![byte] = crc
  }
  for (let slice = 1; slice < SLICES; slice += 1) {
    for (let byte = 0; byte < 256; byte += 1) {
      const before = tables[slice - 1]![byte]!
      tables[slice]![byte] = tables[0]![before & 0xff]! ^ (before >>> 8)
    }
  }
  return tables
}

/** Checksum of `bytes` from `start` to before `end`, as an unsigned integer. */
export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES as [
    ...[Int32Array, Int32Array, Int32Array, Int32Array],
    ...[Int32Array, Int32Array, Int32Array, Int32Array],
  ]
  let crc = -1
  let at = start
  for (; at + SLICES <= end; at += SLICES) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    crc =
      t7[crc & 0xff]! ^
      t6[(crc >>> 8) & 0xff]! ^
      t5[(crc >>> 16) & 0xff]! ^
      t4[crc >>> 24]! ^
      t3[bytes[at + 4]!]! ^
      t2[bytes[at + 5]!]! ^
      t1[bytes[at + 6]!]! ^
      t0[bytes[at + 7]!]!
  }
  for (; at < end; at += 1) crc = t0[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8)
  return ~crc >>> 0
}
