/** What was asked cannot be done as things stand. The message says why, and what to do. */
export class BackfillRefusedError extends Error {
  override readonly name = 'BackfillRefusedError'
}
