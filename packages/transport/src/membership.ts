const HEARTBEAT_MS = 1_000

/** Waits for a promise while the membership of the group is kept. Errors of either pass through. */
export async function withHeartbeats<T>(member: { heartbeat(): Promise<void> }, work: Promise<T>): Promise<T> {
  // A rejection that comes while a heartbeat is under way is taken below.
  work.catch(() => undefined)
  for (;;) {
    let timer: NodeJS.Timeout | undefined
    const waited = new Promise<'waited'>((resolve) => {
      timer = setTimeout(() => resolve('waited'), HEARTBEAT_MS)
    })
    const first = await Promise.race([work.then((value) => ({ value })), waited])
    clearTimeout(timer)
    if (first !== 'waited') return first.value
    await member.heartbeat()
  }
}
