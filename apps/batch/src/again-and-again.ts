/**
 * Does `work` now, and again so long after each end, until it is closed; `work` may ask whether it is. It must not reject: what went wrong is its
 * own to tell. `close` waits for the work that runs.
 */
export function againAndAgain(work: (isClosing: () => boolean) => Promise<void>, everyMs: number): { close(): Promise<void> } {
  let closing = false
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()
  const run = () => {
    running = work(() => closing).finally(() => {
      if (!closing) timer = setTimeout(run, everyMs)
    })
  }
  run()
  return {
    close: async () => {
      closing = true
      clearTimeout(timer)
      await running
    },
  }
}
