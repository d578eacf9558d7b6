import { readFileSync } from 'node:fs'

/** What a parser of settings has found: the settings, or what is wrong, ready for a terminal. */
export type ParsedSettings<Settings> = { readonly settings: Settings } | { readonly wrong: string }

/**
 * Settings of the pipelines for a program, read once, at start: from the file that KM0_SETTINGS_FILE names, when it does, and from variables.
 * Ends the process with code 2 and one clear message when the file cannot be read or `parse` finds something wrong.
 */
export function loadSettings<Settings>(
  part: string,
  variables: Readonly<Record<string, string | undefined>>,
  parse: (text: string | null, file: string) => ParsedSettings<Settings>,
): Settings {
  const named = variables.KM0_SETTINGS_FILE
  const file = named === undefined || named === '' ? null : named
  let wrong: string
  try {
    const parsed = parse(file === null ? null : readFileSync(file, 'utf8'), file ?? 'settings')
    if ('settings' in parsed) return parsed.settings
    wrong = `the settings of the pipelines are wrong:\n${parsed.wrong}`
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    wrong = `the file that KM0_SETTINGS_FILE names cannot be read: ${error.message}`
  }
  process.stderr.write(`${part}: ${wrong}\n`)
  process.exit(2)
}
