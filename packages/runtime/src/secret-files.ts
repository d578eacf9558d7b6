import { readFileSync } from 'node:fs'

/** The part of a zod object schema that says which settings there are. */
const namesOf = (schema: object): ReadonlySet<string> =>
  new Set('shape' in schema && typeof schema.shape === 'object' && schema.shape !== null ? Object.keys(schema.shape) : [])

/**
 * Variables with those of `names` filled in that are given as files: `NAME_FILE` names a file whose text, without the line end at its end, is
 * NAME, and `NAME_FILE` is gone. What is wrong is added to `wrong`, a line each: a file that cannot be read, or a setting that is given both ways.
 */
export function withFiles(
  variables: Readonly<Record<string, string | undefined>>,
  names: ReadonlySet<string> | object,
  wrong: string[],
): Record<string, string> {
  const known = names instanceof Set ? (names as ReadonlySet<string>) : namesOf(names)
  const given = Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''),
  )
  for (const name of known) {
    const fileName = `${name}_FILE`
    const file = given[fileName]
    if (file === undefined || known.has(fileName)) continue
    if (given[name] !== undefined) {
      wrong.push(`${fileName}: ${name} is set too; set one of them`)
      continue
    }
    try {
      given[name] = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
      delete given[fileName]
    } catch (error) {
      wrong.push(`${fileName}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return given
}
