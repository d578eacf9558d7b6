/** One command of `km0`. */
export interface Command {
  /** The words that call it. */
  readonly words: readonly string[]
  /** One line for the list of commands. */
  readonly summary: string
  /** All that `--help` prints. */
  readonly help: string
  /** Does it. Resolves with the exit code; throws CommandError for a fault of the person who calls. */
  run(args: readonly string[]): Promise<number>
}

/** Something that the person who typed the command can mend. Printed without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}
