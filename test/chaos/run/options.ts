import { parseArgs } from 'node:util'

export const HELP = `pnpm chaos --seed N --minutes M [--vans V] [--broker embedded|mosquitto] [--keep]

Runs the whole platform with a demo fleet, on free ports and a data folder of its own, and from the seed a schedule of faults: kill -9,
SIGSTOP, TCP cuts, a full disk, old messages again, a wrong clock. Then it drains, and judges whether anything is lost, doubled or wrong.

  --seed N       decides what happens when (1)
  --minutes M    how long there are faults; a fraction is allowed (5)
  --vans V       vans of the fleet (40)
  --broker NAME  mosquitto or embedded; default: mosquitto where it is found (PATH, KM0_MOSQUITTO), else embedded
  --keep         keeps data and logs of a run that passes too

Exit code: 0 when all passed, 1 when not; then data and logs are kept, and the last lines say where.
`

export interface ChaosOptions {
  readonly seed: number
  readonly minutes: number
  readonly vans: number
  /** null: mosquitto where it is found. */
  readonly broker: 'mosquitto' | 'embedded' | null
  readonly keep: boolean
}

/** The words of the command line; null when only help is wanted. Throws an Error that says which word is wrong. */
export function parseOptions(words: readonly string[]): ChaosOptions | null {
  const { values } = parseArgs({
    // pnpm hands the `--` of `pnpm chaos -- --seed 1` on.
    args: words.filter((word) => word !== '--'),
    options: {
      seed: { type: 'string', default: '1' },
      minutes: { type: 'string', default: '5' },
      vans: { type: 'string', default: '40' },
      broker: { type: 'string' },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return null
  const number = (name: 'seed' | 'minutes' | 'vans', least: number, most: number) => {
    const value = Number(values[name])
    const fits = values[name] !== '' && value >= least && value <= most && (name === 'minutes' || Number.isInteger(value))
    if (!fits) throw new Error(`--${name} ${values[name]}: a number from ${least} to ${most}`)
    return value
  }
  const broker = values.broker ?? null
  if (broker !== null && broker !== 'mosquitto' && broker !== 'embedded')
    throw new Error(`--broker is mosquitto or embedded, not ${broker}`)
  return {
    seed: number('seed', 0, 0xffff_ffff),
    minutes: number('minutes', 0.1, 24 * 60),
    vans: number('vans', 5, 10_000),
    broker,
    keep: values.keep,
  }
}
