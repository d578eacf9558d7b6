import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { jsonLines, replayText } from './replay-in-process.ts'

const FOLDER = 'test/oracle/vectors'

// NAME.JOB_MODE_WORDS.out.ndjson holds what `replay JOB MODE WORDS < NAME.in.ndjson` prints, line for line.
const vectors = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.out.ndjson'))
  .map((file) => {
    const [name = '', words = ''] = file.replace('.out.ndjson', '').split('.')
    return { file, name, words: words.split('_') }
  })

describe('vectors of the semantics page', () => {
  it('are all there', () => {
    expect(vectors.length).toBeGreaterThanOrEqual(25)
  })

  it.each(vectors)('$name: $words', async ({ file, name, words }) => {
    const { results } = await replayText(words, readFileSync(`${FOLDER}/${name}.in.ndjson`, 'utf8'))
    expect(jsonLines(results)).toEqual(jsonLines(readFileSync(`${FOLDER}/${file}`, 'utf8')))
  })
})
