// Writes src/server/data-out/answers.schema.json: JSON Schema of what each route answers, made of the types in answers.ts by which handlers are
// checked, with their descriptions. `--check` writes nothing and fails when the file is not what the types say.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createGenerator } from 'ts-json-schema-generator'

const room = join(dirname(fileURLToPath(import.meta.url)), '..')
const file = join(room, 'src/server/data-out/answers.schema.json')

/**
 * As OpenAPI 3.1 has schemas (JSON Schema 2020-12): tuples are `prefixItems`, references lead to components.
 * @param {unknown} schema
 * @returns {unknown}
 */
function modern(schema) {
  if (Array.isArray(schema)) return schema.map(modern)
  if (typeof schema !== 'object' || schema === null) return schema
  /** @type {Record<string, unknown>} */
  const made = {}
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'items' && Array.isArray(value)) made.prefixItems = modern(value)
    else if (key === '$ref' && typeof value === 'string') made[key] = value.replace('#/definitions/', '#/components/schemas/')
    else made[key] = modern(value)
  }
  return made
}

const { definitions = {}, properties = {} } = createGenerator({
  path: join(room, 'src/server/data-out/answers.ts'),
  tsconfig: join(room, 'tsconfig.json'),
  type: 'Answers',
  topRef: false,
  // The type check of the room does that.
  skipTypeCheck: true,
}).createSchema('Answers')

/** A line each: what changes is seen. @param {object} parts */
const lines = (parts) =>
  Object.entries(parts)
    .map(([name, schema]) => `    ${JSON.stringify(name)}: ${JSON.stringify(modern(schema))}`)
    .join(',\n')
const text = `{\n  "answers": {\n${lines(properties)}\n  },\n  "schemas": {\n${lines(definitions)}\n  }\n}\n`
if (!process.argv.includes('--check')) writeFileSync(file, text)
else if (readFileSync(file, 'utf8') !== text) {
  console.error('answers.schema.json is not what answers.ts says: run `node apps/dashboard/scripts/answers.mjs`')
  process.exit(1)
}
