/** What went wrong, for the person who reads it with the version. */
export function explainedFault(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  if (/No space left|disk full|could not extend file|could not write to file/i.test(message) || codeOf(error) === '53100')
    return `a disk is full (${message}): make room where PostgreSQL and the lake keep their files, then run the backfill again. What is served has not changed.`
  return message
}

function codeOf(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return undefined
  if ('code' in error) return error.code
  return 'cause' in error ? codeOf(error.cause) : undefined
}
