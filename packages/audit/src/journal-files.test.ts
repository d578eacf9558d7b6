import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { positionTopic } from '@km0/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { JournalError, JournalFiles } from './journal-files.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'km0-journal-'))
  path = join(folder, 'journal.jsonl')
})
afterEach(() => rmSync(folder, { recursive: true }))

const line = (n: number, topic = positionTopic('a')) =>
  `${JSON.stringify({ van: 'a', event_ms: n, arrival_ms: 1_000 + n, topic, bytes: 9, sha256: n.toString(16).padStart(64, '0'), fault: null })}\n`

async function eventsOf(journal: JournalFiles): Promise<number[]> {
  const all: number[] = []
  for await (const { eventMs } of journal.lines()) all.push(eventMs)
  return all
}

describe('the journal of a publisher', () => {
  it('is read from the rotated file on, and whole from its oldest line', async () => {
    writeFileSync(`${path}.1`, line(1) + line(2))
    writeFileSync(path, line(3))
    const journal = await JournalFiles.open(path)
    expect([await journal.wholeFromMs(), await eventsOf(journal)]).toEqual([1_001, [1, 2, 3]])
    await journal.close()
  })

  it('begins with its publisher while nothing was rotated', async () => {
    writeFileSync(path, line(1))
    const journal = await JournalFiles.open(path)
    expect(await journal.wholeFromMs()).toBe(Number.NEGATIVE_INFINITY)
    await journal.close()
  })

  it('misses nothing when it is rotated while it is open', async () => {
    writeFileSync(`${path}.1`, line(1))
    writeFileSync(path, line(2))
    const journal = await JournalFiles.open(path)
    appendFileSync(path, line(3))
    renameSync(path, `${path}.1`)
    writeFileSync(path, line(4))
    expect(await eventsOf(journal)).toEqual([1, 2, 3, 4])
    await journal.close()
  })

  it('leaves out a last line that is still being written, and refuses any other that is none', async () => {
    writeFileSync(path, line(1) + line(2).slice(0, 30))
    const journal = await JournalFiles.open(path)
    expect(await eventsOf(journal)).toEqual([1])
    await journal.close()
    writeFileSync(path, `${line(1)}nonsense\n${line(3)}`)
    const broken = await JournalFiles.open(path)
    await expect(eventsOf(broken)).rejects.toThrow(`${path}, line 2`)
    await broken.close()
    await expect(JournalFiles.open(join(folder, 'none'))).rejects.toThrow(JournalError)
  })

  it('knows which messages the bridge writes byte for byte', async () => {
    writeFileSync(path, line(1) + line(2, 'km0/grup-1/repartidors/a/posicio') + line(3, 'owntracks/u/a'))
    const journal = await JournalFiles.open(path)
    const verbatim: boolean[] = []
    for await (const entry of journal.lines()) verbatim.push(entry.verbatim)
    expect(verbatim[0]).toBe(true)
    expect(verbatim[2]).toBe(false)
    await journal.close()
  })
})
