const PROGRESS_EVERY_MS = 10_000

/** @param {number} ms */
export function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`
}

/**
 * Runs one phase of a start: says its name, that it still goes on every ten seconds, and how long it took.
 * @template Result
 * @param {string} name
 * @param {() => Promise<Result>} work
 * @returns {Promise<Result>}
 */
export async function phase(name, work) {
  const startedMs = performance.now()
  const progress = setInterval(
    () => console.log(`… ${name}, ${Math.round((performance.now() - startedMs) / 1000)} s so far`),
    PROGRESS_EVERY_MS,
  )
  try {
    const result = await work()
    console.log(`✓ ${name} (${seconds(performance.now() - startedMs)})`)
    return result
  } catch (error) {
    console.log(`✗ ${name} (${seconds(performance.now() - startedMs)})`)
    throw error
  } finally {
    clearInterval(progress)
  }
}
