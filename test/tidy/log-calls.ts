import { readdirSync, readFileSync } from 'node:fs'

export interface LogCall {
  readonly place: string
  /** Code between the brackets, texts emptied. */
  readonly code: string
  /** Names of the members that the call's object literal writes out. */
  readonly fields: readonly string[]
}

const CALL = /\b#?(?:log|logger)\??\.(?:info|warn|error|fatal)\(/g
const TEXTS = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g

/** Up to the bracket that closes the one before `start`. */
function upToClosing(source: string, start: number): string {
  let depth = 1
  let end = start
  for (; end < source.length && depth > 0; end++) {
    if ('([{'.includes(source[end] as string)) depth++
    else if (')]}'.includes(source[end] as string)) depth--
  }
  return source.slice(start, end - 1)
}

function partsOf(code: string): string[] {
  const parts: string[] = ['']
  let depth = 0
  for (const sign of code) {
    if ('([{'.includes(sign)) depth++
    else if (')]}'.includes(sign)) depth--
    if (sign === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += sign
  }
  return parts.map((part) => part.trim())
}

/** Log calls above debug of one source text. */
export function logCalls(place: string, source: string): LogCall[] {
  const bare = source.replace(TEXTS, "''")
  return [...bare.matchAll(CALL)].map((match) => {
    const code = upToClosing(bare, match.index + match[0].length).trim()
    const members = code.startsWith('{') ? partsOf(upToClosing(code, 1)) : []
    return { place, code, fields: members.flatMap((member) => /^[A-Za-z]\w*/.exec(member)?.[0] ?? []) }
  })
}

/** Of all programs and packages, tests left out. */
export function allLogCalls(): LogCall[] {
  return sources().flatMap((path) => logCalls(path, readFileSync(path, 'utf8')))
}

export function sources(): string[] {
  return ['packages', 'apps'].flatMap((room) =>
    readdirSync(room).flatMap((name) =>
      readdirSync(`${room}/${name}/src`, { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.tsx?$/.test(file) && !/\.(test|testbench)\.tsx?$/.test(file))
        .map((file) => `${room}/${name}/src/${file}`),
    ),
  )
}
