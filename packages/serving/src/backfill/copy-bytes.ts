const FIRST_BYTES = 65_536
/** A buffer is given up for a new one at this size, so that a large piece is some buffers and nothing is copied twice. */
const CHUNK_BYTES = 1_048_576
const TWO_32 = 4_294_967_296

/** Signature, flags and length of the header extension. */
const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
/** A row of −1 columns ends the data. */
const END = Buffer.from([0xff, 0xff])

/**
 * Rows in PostgreSQL's binary format of COPY, which costs neither side the way over digits. All integers are of 8 or 4 bytes as their columns
 * are: https://www.postgresql.org/docs/current/sql-copy.html ("Binary Format").
 */
export class CopyBytes {
  readonly #full: Buffer[] = [HEADER]
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #view = viewOf(this.#bytes)
  #at = 0
  #texts = new Map<string, Buffer>()
  rows = 0

  /** Begins a row of so many columns, and makes room for it: numbers, and these texts. */
  row(columns: number, ...texts: readonly string[]): void {
    let bytes = 2 + columns * 12
    for (const text of texts) bytes += this.#encoded(text).length
    if (this.#at + bytes > this.#bytes.length) this.#more(bytes)
    this.#view.setInt16(this.#at, columns)
    this.#at += 2
    this.rows += 1
  }

  bigint(value: number): void {
    const high = Math.floor(value / TWO_32)
    this.#view.setInt32(this.#at, 8)
    this.#view.setInt32(this.#at + 4, high)
    this.#view.setUint32(this.#at + 8, value - high * TWO_32)
    this.#at += 12
  }

  integer(value: number): void {
    this.#view.setInt32(this.#at, 4)
    this.#view.setInt32(this.#at + 4, value)
    this.#at += 8
  }

  text(value: string): void {
    const encoded = this.#encoded(value)
    this.#view.setInt32(this.#at, encoded.length)
    this.#bytes.set(encoded, this.#at + 4)
    this.#at += 4 + encoded.length
  }

  /** Names come again and again. */
  #encoded(text: string): Buffer {
    let encoded = this.#texts.get(text)
    if (encoded === undefined) {
      encoded = Buffer.from(text)
      this.#texts.set(text, encoded)
    }
    return encoded
  }

  #more(bytes: number): void {
    if (this.#at > 0) this.#full.push(this.#bytes.subarray(0, this.#at))
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(bytes, CHUNK_BYTES))
    this.#view = viewOf(this.#bytes)
    this.#at = 0
  }

  /** All of it, to be sent once. */
  chunks(): readonly Buffer[] {
    return [...this.#full, this.#bytes.subarray(0, this.#at), END]
  }
}

function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}
