import { duration } from './narrator.ts'

export interface ProgressState {
  readonly done: number
  readonly total: number
  readonly perSecond: number
  /** Simulated time still to come. */
  readonly leftMs: number
}

const BAR_WIDTH = 30

/** `[#####-----]  41 %  10,248 of 24,996  5,120/s  5 h 43 min of recording left`. */
export function progressLine(state: ProgressState): string {
  const share = state.total === 0 ? 1 : state.done / state.total
  const filled = Math.floor(share * BAR_WIDTH)
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}]`
  const count = `${state.done.toLocaleString('en')} of ${state.total.toLocaleString('en')}`
  const left = `${duration(state.leftMs)} of recording left`
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${count}  ${Math.round(state.perSecond).toLocaleString('en')}/s  ${left}`
}

/** Shows progress: on a terminal one line that is redrawn, elsewhere a line every ten seconds. */
export class ProgressBar {
  readonly #out: NodeJS.WriteStream
  readonly #timer: NodeJS.Timeout
  #shown = ''

  constructor(out: NodeJS.WriteStream, state: () => ProgressState) {
    this.#out = out
    const draw = () => this.#draw(progressLine(state()))
    this.#timer = setInterval(draw, out.isTTY ? 200 : 10_000)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    if (this.#out.isTTY && this.#shown !== '') this.#out.write('\n')
  }

  #draw(line: string): void {
    this.#out.write(this.#out.isTTY ? `\r\x1b[K${line}` : `${line}\n`)
    this.#shown = line
  }
}
