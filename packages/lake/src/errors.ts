/** DuckDB or its extensions are not to be had on this machine. The platform runs without the lake; the message says what to install. */
export class LakeNotInstalledError extends Error {
  override readonly name = 'LakeNotInstalledError'
}

/** The catalog has no lake yet. */
export class LakeMissingError extends Error {
  override readonly name = 'LakeMissingError'
}

/** The catalog or the files cannot be reached for now, or the disk is full. The same call again may succeed. */
export class LakeUnavailableError extends Error {
  override readonly name = 'LakeUnavailableError'
}

/** Another writer has moved the offset of this partition: whoever holds the older one must stop writing. Nothing of the call was stored. */
export class LakeFencedError extends Error {
  override readonly name = 'LakeFencedError'
}

/** A statement that `lake sql` does not run. */
export class LakeReadOnlyError extends Error {
  override readonly name = 'LakeReadOnlyError'
}

const UNAVAILABLE =
  /connection to server|could not connect|server closed the connection|terminating connection|no connection to the server|the database system is|SSL SYSCALL|Connection refused|No space left|Disk quota|Could not establish connection|Connection reset|bad connection|failed to execute query "ROLLBACK|connection pointer is NULL|not connected|Failed to get data file list|Could not write/i
const CONFLICT = /Transaction conflict|could not serialize|deadlock detected|duplicate key value|conflict on (?:commit|update|create)/i

/** Whether DuckDB refused a commit because another one came first: the same again may succeed. */
export function isConflict(error: unknown): boolean {
  return error instanceof Error && CONFLICT.test(error.message)
}

/** Whether it is the catalog, the network or the disk, and not the statement. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof LakeUnavailableError || (error instanceof Error && UNAVAILABLE.test(error.message))
}

/** A typed error for what DuckDB threw; others pass unchanged. Passwords of connection strings are taken out. */
export function typedLakeError(error: unknown): Error {
  const message = withoutPasswords(error instanceof Error ? error.message : String(error))
  if (isUnavailable(error)) return new LakeUnavailableError(message, { cause: withoutCause(message) })
  if (error instanceof Error && error.message === message) return error
  return new Error(message)
}

/** The text with `user:password@` and `password=…` masked. */
export function withoutPasswords(text: string): string {
  return text.replace(/(\w+:\/\/[^:/@\s]+):[^@\s]+@/g, '$1:***@').replace(/(password\s*=\s*)\S+/gi, '$1***')
}

function withoutCause(message: string): Error {
  return new Error(message)
}
