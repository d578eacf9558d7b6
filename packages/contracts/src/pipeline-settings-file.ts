import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { PIPELINE_VARIABLES, type PipelineSettings, pipelineSettingsSchema, variableOf } from './pipeline-settings.ts'

/** What is wrong with the settings, for a person. */
export interface SettingsProblem {
  /** Line of the settings file, from 1; null for what does not stand there. */
  readonly line: number | null
  /** The variable that gave the value; null for what stands in the file. */
  readonly variable: string | null
  readonly reason: string
}

export type ParsedPipelineSettings = { readonly settings: PipelineSettings } | { readonly problems: readonly SettingsProblem[] }

type Variables = Readonly<Record<string, string | undefined>>

/**
 * Settings of all pipelines: defaults, then the text of the settings file (JSON with comments; null when there is none), then variables such
 * as KM0_STOCK_THRESHOLD. Returns what is wrong, each with its line or variable, when anything is.
 */
export function parsePipelineSettings(text: string | null, variables: Variables): ParsedPipelineSettings {
  try {
    return parseUnguarded(text, variables)
  } catch (error) {
    // The parser goes down one call a level.
    if (!(error instanceof RangeError)) throw error
    return { problems: [{ line: null, variable: null, reason: 'is nested too deeply' }] }
  }
}

function parseUnguarded(text: string | null, variables: Variables): ParsedPipelineSettings {
  const file = text ?? '{}'
  const errors: ParseError[] = []
  const tree = parseTree(file, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first !== undefined)
    return { problems: [inFile(file, first.offset, `is not JSON with comments: ${printParseErrorCode(first.error)}`)] }
  const value = tree === undefined ? {} : plainValue(tree)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { problems: [inFile(file, 0, 'must be an object')] }
  const given = withVariables(value as Record<string, unknown>, variables)
  if ('problems' in given) return given
  const parsed = pipelineSettingsSchema.safeParse(given.value)
  if (parsed.success) return { settings: parsed.data }
  return { problems: parsed.error.issues.map((issue) => problemOf(issue, file, tree, given.from)) }
}

interface Issue {
  readonly code: string
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly keys?: readonly string[]
}

function problemOf(issue: Issue, file: string, tree: Node | undefined, from: ReadonlySet<string>): SettingsProblem {
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys?.[0] : undefined
  const path = (unknown === undefined ? issue.path : [...issue.path, unknown]).map(String)
  const name = path.join('.')
  const reason = unknown === undefined ? `${name}: ${issue.message}` : `${name}: there is no such setting`
  const variable = variableOf(path[0] ?? '', path[1] ?? '')
  if (from.has(variable)) return { line: null, variable, reason }
  // A value that is missing or a default has no line of its own: that of its section is named.
  for (let length = path.length; length > 0; length -= 1) {
    const node = tree === undefined ? undefined : findNodeAtLocation(tree, path.slice(0, length))
    if (node !== undefined) return inFile(file, (node.parent ?? node).offset, reason)
  }
  return { line: null, variable: null, reason }
}

function inFile(file: string, offset: number, reason: string): SettingsProblem {
  return { line: file.slice(0, offset).split('\n').length, variable: null, reason }
}

function withVariables(
  file: Readonly<Record<string, unknown>>,
  variables: Variables,
): { readonly value: Record<string, unknown>; readonly from: ReadonlySet<string> } | { readonly problems: readonly SettingsProblem[] } {
  const value: Record<string, unknown> = { ...file }
  const from = new Set<string>()
  const problems: SettingsProblem[] = []
  for (const [variable, [part, name]] of PIPELINE_VARIABLES) {
    const text = variables[variable]
    if (text === undefined || text === '') continue
    const section = value[part]
    if (section !== undefined && (typeof section !== 'object' || section === null)) continue
    let given: unknown
    try {
      given = JSON.parse(text)
    } catch {
      problems.push({ line: null, variable, reason: `"${text}" is neither a number nor true or false` })
      continue
    }
    value[part] = { ...(section as object | undefined), [name]: given }
    from.add(variable)
  }
  return problems.length > 0 ? { problems } : { value, from }
}

/** Plain value of a node. Not jsonc-parser's own: its objects have a prototype, and a setting may be called `__proto__`. */
function plainValue(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(plainValue)
  if (node.type !== 'object') return node.value
  return Object.fromEntries(
    (node.children ?? []).flatMap(({ children }) => {
      const [key, value] = children ?? []
      return key === undefined || value === undefined ? [] : [[String(key.value), plainValue(value)]]
    }),
  )
}

/** One line a problem, for a terminal. `file` is how the settings file is called. */
export function describeSettingsProblems(problems: readonly SettingsProblem[], file: string): string {
  return problems
    .map(({ line, variable, reason }) => {
      if (variable !== null) return `  ${variable}: ${reason}`
      return line === null ? `  ${reason}` : `  ${file}:${line}: ${reason}`
    })
    .join('\n')
}

/** The same for a program that starts: the settings, or all that is wrong as text. */
export function readPipelineSettings(
  text: string | null,
  file: string,
  variables: Variables,
): { readonly settings: PipelineSettings } | { readonly wrong: string } {
  const parsed = parsePipelineSettings(text, variables)
  return 'settings' in parsed ? parsed : { wrong: describeSettingsProblems(parsed.problems, file) }
}
