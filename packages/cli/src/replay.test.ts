import { spawnSync } from 'node:child_process'
import { build } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { HELP, parseOptions, ReplayError } from './replay-options.ts'
import { replay } from './replay-run.ts'

const T0 = 1_789_380_000_000
const BUNDLE = 'packages/cli/dist/replay.test-bundle.mjs'
const line = (offset: number, timestamp: number, value: unknown, partition = 0) =>
  JSON.stringify({ partition, offset, timestamp, key: null, value: value === null ? null : JSON.stringify(value) })
const position = (data_ms: number) => ({ repartidor: 'a', lat: 41.98, lon: 2.82, data_ms })
const heartbeat = (data_ms: number) => ({ tipus: 'batec', data_ms })

async function run(words: string[], ...pieces: (string | Uint8Array)[]) {
  const out = { results: '', explained: '' }
  async function* input() {
    for (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece
  }
  const options = parseOptions(words)
  if (options === null) throw new Error('help')
  const write = (text: string) => {
    out.results += text
  }
  const explain = (text: string) => {
    out.explained += text
  }
  const failure = await replay(options, { input: input(), write, explain }).then(
    () => null,
    (error: unknown) => error,
  )
  return {
    ...out,
    failure,
    topics: out.results
      .split('\n')
      .filter(Boolean)
      .map((text) => JSON.parse(text).topic),
  }
}

describe('the command line', () => {
  it('is read', () => {
    const words = 'stock live --delay 1000 --partitions 6 --allowed-lateness 300000 --explain'.split(' ')
    expect(parseOptions(words)).toEqual({
      job: 'stock',
      mode: 'live',
      delayMs: 1000,
      allowedLatenessMs: 300_000,
      partitions: 6,
      fromMs: undefined,
      toMs: undefined,
      explain: true,
      livePoints: false,
    })
    expect(parseOptions(['positions', 'batch', '--from=-5', '--to', '7'])).toMatchObject({ fromMs: -5, toMs: 7, partitions: 1 })
    expect(parseOptions(['--help'])).toBeNull()
    expect(HELP).toContain('--allowed-lateness')
  })

  it.each([
    [[], /first word/],
    [['vans', 'live'], /'vans'/],
    [['positions', 'now'], /'now'/],
    [['positions', 'live', 'more'], /'more'/],
    [['positions', 'live', '--delay', 'x'], /--delay takes a whole number of milliseconds, not 'x'/],
    [['positions', 'live', '--delay', '-1'], /--delay/],
    [['positions', 'live', '--delay', '1.5'], /1\.5/],
    [['stock', 'live', '--partitions', '0'], /--partitions takes a whole number of 1 or more/],
    [['positions', 'live', '--slide', '5'], /--slide/],
    [['positions', 'live', '--from', '5'], /--from means nothing to live/],
    [['positions', 'batch', '--explain'], /--explain means nothing to batch/],
    [['positions', 'batch', '--from', '5', '--to', '5'], /before/],
    [['stock', 'live', '--live-points'], /live-points/],
  ])('%j is refused in words', (words, message) => {
    expect(() => parseOptions(words)).toThrow(ReplayError)
    expect(() => parseOptions(words)).toThrow(message)
  })
})

describe('the input', () => {
  it('may come in any pieces, end without a newline, and hold empty lines', async () => {
    const log = `${line(0, T0, { ...position(T0), repartidor: 'ñ\u{1f69a}' })}\n\n \r\n${line(1, T0, null)}`
    const bytes = Buffer.from(log)
    const whole = await run(['positions', 'live'], log)
    expect(whole.topics).toEqual(['panell', 'rebutjats'])
    const single = await run(['positions', 'live'], ...Array.from(bytes, (byte) => Uint8Array.of(byte)))
    expect(single.results).toBe(whole.results)
  })

  it.each([
    ['{', /^line 2: not JSON/],
    ['[]', /^line 2: not an object/],
    ['{"offset":0,"timestamp":1,"value":null}', /^line 2: partition must be a whole number of 0 or more, not undefined/],
    ['{"partition":0,"offset":-1,"timestamp":1,"value":null}', /^line 2: offset/],
    ['{"partition":0,"offset":0,"timestamp":"1","value":null}', /^line 2: timestamp/],
    ['{"partition":0,"offset":0,"timestamp":1}', /^line 2: value must be text/],
    ['{"partition":0,"offset":0,"timestamp":1,"value":{"a":1}}', /^line 2: value must be text/],
    ['{"partition":0,"offset":0,"timestamp":1,"key":7,"value":null}', /^line 2: key/],
  ])('the line %s is named, and what came before it is printed', async (bad, message) => {
    const { failure, topics } = await run(['positions', 'live'], `${line(0, T0, position(T0))}\n${bad}\n${line(1, T0, position(T0 + 1))}\n`)
    expect(failure).toBeInstanceOf(ReplayError)
    expect((failure as Error).message).toMatch(message)
    expect(topics).toEqual(['panell'])
  })

  it('of a stock log with more source partitions than said is named', async () => {
    const { failure } = await run(['stock', 'live', '--partitions', '2'], `${line(0, T0, heartbeat(T0), 2)}\n`)
    expect((failure as Error).message).toMatch(/^line 1: a record of source partition 2, but there are 2/)
  })
})

describe('--explain', () => {
  it('tells of each record the watermark, what it opened and closed, and what was late', async () => {
    const log = [
      line(0, T0, position(T0)),
      line(1, T0 + 60_000, heartbeat(T0 + 60_000)),
      line(2, T0 + 60_000, position(T0 - 250_000)),
    ].join('\n')
    const { explained } = await run(['positions', 'live', '--delay', '0', '--explain'], log)
    const told = explained
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text))
    const ends = (...minutes: number[]) => minutes.map((minute) => `distancia|a|${T0 + minute * 60_000}`)
    expect(told[0]).toEqual({
      partition: 0,
      offset: 0,
      outcome: 'accepted',
      W: T0,
      F: T0,
      opened: [...ends(1, 2, 3, 4, 5), `sessio|a|${T0}`],
      closed: [],
      revised: [],
      late: [],
    })
    expect(told[1]).toMatchObject({ outcome: 'heartbeat', W: T0 + 60_000, opened: [], closed: ends(1) })
    expect(told[2]).toMatchObject({ outcome: 'late', late: [{ motiu: 'tard', data_ms: T0 - 250_000, finestres_tancades: 5 }] })
  })

  it('tells of stock too', async () => {
    const event = { tipus: 'estoc.actualitzat', data_ms: T0, dades: { producte: 'vi', mercat: 'girona', estoc_actual: 1 } }
    const log = [line(0, T0, event), line(1, T0, { tipus: 'comanda.creada' }), line(2, T0, heartbeat(T0 + 300_000))].join('\n')
    const { explained } = await run(['stock', 'live', '--delay', '0', '--explain'], log)
    expect(explained).toContain(`"opened":["alerta|vi|girona|${T0 + 300_000}"]`)
    expect(explained).toContain('"outcome":"skipped"')
  })
})

describe('the built command', () => {
  beforeAll(async () => {
    await build({
      entryPoints: ['packages/cli/src/replay.ts'],
      outfile: BUNDLE,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      logLevel: 'error',
    })
  })

  const command = (words: string[], input = '') => spawnSync(process.execPath, [BUNDLE, ...words], { input, encoding: 'utf8' })

  it('prints help, and exits with 0', () => {
    expect(command(['--help'])).toMatchObject({ status: 0, stdout: HELP, stderr: '' })
  })

  it('exits with 2 and one line when something is wrong', () => {
    expect(command(['positions'])).toMatchObject({
      status: 2,
      stdout: '',
      stderr: "replay: the second word is live or batch, not ''; try --help\n",
    })
    expect(command(['positions', 'live'], '{')).toMatchObject({ status: 2, stdout: '' })
  })

  it('starts in 0.3 s, or, on a machine so busy that node alone takes 0.1 s, in three times that', () => {
    const secondsOf = (work: () => void) => {
      const start = performance.now()
      work()
      return (performance.now() - start) / 1000
    }
    const rounds = Array.from({ length: 6 }, () => ({
      node: secondsOf(() => spawnSync(process.execPath, ['-e', ''])),
      replay: secondsOf(() => {
        expect(command(['positions', 'live'], line(0, T0, position(T0))).stdout).toContain('amb-senyal')
      }),
    }))
    const node = Math.min(...rounds.map((round) => round.node))
    expect(Math.min(...rounds.map((round) => round.replay))).toBeLessThan(Math.max(0.3, 3 * node))
  })
})
