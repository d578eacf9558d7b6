import { parseOptions } from '../../packages/cli/src/replay-options.ts'
import { replay } from '../../packages/cli/src/replay-run.ts'

/** What `replay WORDS < log` writes; the command without its process. */
export async function replayText(words: readonly string[], log: string): Promise<{ readonly results: string; readonly explained: string }> {
  const options = parseOptions([...words])
  if (options === null) throw new Error('help has no results')
  const results: string[] = []
  const explained: string[] = []
  async function* input() {
    yield Buffer.from(log)
  }
  const write = (text: string) => void results.push(text)
  await replay(options, { input: input(), write, explain: (text) => void explained.push(text) })
  return { results: results.join(''), explained: explained.join('') }
}

/** Lines of JSON text as values. */
export function jsonLines(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)
}
