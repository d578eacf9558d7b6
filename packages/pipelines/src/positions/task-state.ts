/** What the job knows of a partition beside the state of its pipeline. It is the job's own; only the heartbeat is read here. */
export interface TaskHead {
  readonly heartbeatMs: number | null
}

/**
 * A state as the job stores it: a first line of its own, then the lines of the pipeline. Version 1 held the pipeline's state as a text within
 * the first line. Throws a SyntaxError when the first line is no JSON.
 */
export function splitTask(state: string): { readonly head: TaskHead; readonly snapshot: string } {
  const end = state.indexOf('\n')
  const first = JSON.parse(end < 0 ? state : state.slice(0, end)) as TaskHead & { readonly version: number; readonly host?: string }
  const { version, host, ...head } = first
  return { head, snapshot: version === 1 && host !== undefined ? host : state.slice(end + 1) }
}

/** The opposite, in today's version. */
export function joinTask(head: TaskHead, snapshot: string): string {
  return `${JSON.stringify({ version: 2, ...head })}\n${snapshot}`
}
