import { parseArgs } from 'node:util'

/** What was asked on the command line. */
export interface ReplayOptions {
  readonly job: 'positions' | 'stock'
  readonly mode: 'live' | 'batch'
  readonly delayMs: number | undefined
  readonly allowedLatenessMs: number | undefined
  /** Source partitions of stock. */
  readonly partitions: number
  readonly fromMs: number | undefined
  readonly toMs: number | undefined
  readonly explain: boolean
  readonly livePoints: boolean
}

/** What is wrong with the command line or with the input, in words for the person who typed it. */
export class ReplayError extends Error {}

export const HELP = `replay positions|stock live|batch [options] < log.ndjson

Reads a log as JSON lines on standard input and prints the results as JSON lines, so that anybody can see why a window is what it is.
A line: {"partition":0,"offset":12,"timestamp":1789380000000,"key":"furgoneta-3","value":"{...}"}; value is text or null.
A result: {"topic":"panell","key":"...","value":{...},"at":{"partition":0,"offset":12}}; batch prints rows sorted by key, without "at".

  live                      as the stream job does, record by record
  batch                     as the batch job does: everything that counts, nothing late
  --delay MS                watermark delay before the first settings record (live; positions 45000, stock 120000)
  --allowed-lateness MS     how long closed windows are revised (live; 0)
  --partitions N            source partitions of the stock log (live; 1)
  --from MS, --to MS        range of event time: rows of [from, to) only (batch)
  --live-points             also print the newest point of each van, topic "viu" (positions live)
  --explain                 a line on standard error for each record: watermark W, what it opened and closed, what was late (live)
  --help                    this text

To batch nothing is late, so delay, allowed lateness and partitions mean nothing to it.
Exit code 0, or 2 with one line on standard error that names the option or the line of input at fault.
`

const LIVE_ONLY = ['live-points', 'explain'] as const
const BATCH_ONLY = ['from', 'to'] as const

/** The options in `words`; null when help is asked for. Throws a ReplayError for anything that makes no sense. */
export function parseOptions(words: string[]): ReplayOptions | null {
  const { values, positionals } = parseWords(words)
  if (values.help) return null
  const [job, mode, ...rest] = positionals
  if (job !== 'positions' && job !== 'stock') throw new ReplayError(`the first word is positions or stock, not '${job ?? ''}'; try --help`)
  if (mode !== 'live' && mode !== 'batch') throw new ReplayError(`the second word is live or batch, not '${mode ?? ''}'; try --help`)
  if (rest.length > 0) throw new ReplayError(`nothing is known of '${rest.join(' ')}'; try --help`)
  for (const name of mode === 'live' ? BATCH_ONLY : LIVE_ONLY) {
    if (values[name] !== undefined) throw new ReplayError(`--${name} means nothing to ${mode}`)
  }
  if (values['live-points'] && job === 'stock') throw new ReplayError('--live-points means nothing to stock')
  const options: ReplayOptions = {
    job,
    mode,
    delayMs: wholeNumber('delay', values.delay, 0),
    allowedLatenessMs: wholeNumber('allowed-lateness', values['allowed-lateness'], 0),
    partitions: wholeNumber('partitions', values.partitions, 1) ?? 1,
    fromMs: wholeNumber('from', values.from),
    toMs: wholeNumber('to', values.to),
    explain: values.explain === true,
    livePoints: values['live-points'] === true,
  }
  if (options.fromMs !== undefined && options.toMs !== undefined && options.fromMs >= options.toMs) {
    throw new ReplayError(`--from ${options.fromMs} must be before --to ${options.toMs}`)
  }
  return options
}

function parseWords(words: string[]) {
  try {
    return parseArgs({
      args: words,
      allowPositionals: true,
      options: {
        delay: { type: 'string' },
        'allowed-lateness': { type: 'string' },
        partitions: { type: 'string' },
        from: { type: 'string' },
        to: { type: 'string' },
        explain: { type: 'boolean' },
        'live-points': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    throw new ReplayError(`${(error as Error).message.split('\n')[0]}; try --help`)
  }
}

function wholeNumber(name: string, text: string | undefined, least = Number.MIN_SAFE_INTEGER): number | undefined {
  if (text === undefined) return undefined
  const number = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(number) || number < least) {
    throw new ReplayError(`--${name} takes a whole number${least === 1 ? ' of 1 or more' : ' of milliseconds'}, not '${text}'`)
  }
  return number
}
