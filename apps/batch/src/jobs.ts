/** A kind of job that this program can do: what it takes is parsed by the function itself. */
export type JobHandler = (payload: unknown, progress: (share: number) => Promise<void>) => Promise<unknown>

/** Every kind of job, by name. Backfills come with the lake: until then the queue is served and anything in it is refused by name. */
export const JOB_HANDLERS: Readonly<Record<string, JobHandler>> = {}

/** The queue holds a job that this version does not know. */
export class UnknownJobError extends Error {
  override readonly name = 'UnknownJobError'

  constructor(kind: string, known: readonly string[]) {
    super(
      `there is no job of kind "${kind}"; this version knows ${known.length === 0 ? 'none yet' : known.join(', ')}. Was it queued by a newer version?`,
    )
  }
}

/** The handler of a kind. Throws UnknownJobError. */
export function handlerOf(kind: string, handlers: Readonly<Record<string, JobHandler>>): JobHandler {
  const handler = Object.hasOwn(handlers, kind) ? handlers[kind] : undefined
  if (handler === undefined) throw new UnknownJobError(kind, Object.keys(handlers))
  return handler
}
