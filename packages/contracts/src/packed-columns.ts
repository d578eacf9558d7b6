/**
 * Many rows of whole numbers as one block of bytes: what a browser gets of tracks. All numbers are little endian, as is every machine that runs a
 * browser: the columns are read in place.
 *
 * bytes 0–3 `km0c`, 4–7 length of the header, 8–11 number of columns, 12–15 rows; the header as JSON in ASCII, filled up to a multiple of four with
 * blanks; then each column, four bytes a row.
 */

const MAGIC = 0x63_30_6d_6b
const START_BYTES = 16
/** Least number of a column: "not known". */
export const UNKNOWN_INT32 = -0x80_00_00_00

export interface PackedColumns<Header> {
  readonly header: Header
  readonly columns: readonly Int32Array[]
}

/** One block for a header (anything that JSON can tell) and columns of one length. Throws a RangeError when they differ in length. */
export function encodePacked(header: object, columns: readonly Int32Array[]): Uint8Array<ArrayBuffer> {
  const rows = columns[0]?.length ?? 0
  if (columns.some((column) => column.length !== rows)) throw new RangeError('the columns differ in length')
  const text = asciiOf(header)
  const buffer = new ArrayBuffer(START_BYTES + text.length + columns.length * rows * 4)
  const view = new DataView(buffer)
  for (const [index, number] of [MAGIC, text.length, columns.length, rows].entries()) view.setUint32(index * 4, number, true)
  const bytes = new Uint8Array(buffer)
  for (let index = 0; index < text.length; index += 1) bytes[START_BYTES + index] = text.charCodeAt(index)
  for (const [index, column] of columns.entries()) {
    new Int32Array(buffer, START_BYTES + text.length + index * rows * 4, rows).set(column)
  }
  return bytes
}

/** What `encodePacked` was given; the columns are views of `buffer`. Throws a RangeError for bytes that are no such block. */
export function decodePacked<Header>(buffer: ArrayBuffer): PackedColumns<Header> {
  const view = new DataView(buffer)
  if (buffer.byteLength < START_BYTES || view.getUint32(0, true) !== MAGIC) throw new RangeError('these are no packed columns')
  const [headerBytes, columnCount, rows] = [view.getUint32(4, true), view.getUint32(8, true), view.getUint32(12, true)]
  if (buffer.byteLength !== START_BYTES + headerBytes + columnCount * rows * 4) throw new RangeError('packed columns are cut off')
  let text = ''
  const bytes = new Uint8Array(buffer, START_BYTES, headerBytes)
  // In pieces: a call takes only so many arguments.
  for (let at = 0; at < headerBytes; at += 4_096) text += String.fromCharCode(...bytes.subarray(at, at + 4_096))
  const columns = Array.from(
    { length: columnCount },
    (_, index) => new Int32Array(buffer, START_BYTES + headerBytes + index * rows * 4, rows),
  )
  return { header: JSON.parse(text) as Header, columns }
}

function asciiOf(header: object): string {
  const text = JSON.stringify(header).replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return text.padEnd(Math.ceil(text.length / 4) * 4)
}
