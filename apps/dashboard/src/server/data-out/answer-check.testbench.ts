import { Ajv2020 } from 'ajv/dist/2020.js'
import schemas from './answers.schema.json' with { type: 'json' }

const ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, strictTuples: false, validateFormats: false })
ajv.addVocabulary(['components', 'answers'])
ajv.addSchema({ $id: 'answers', components: { schemas: schemas.schemas }, answers: schemas.answers })

/** Routes whose answer has a schema, as ACCESS names them. */
export const ROUTES_WITH_ANSWER: readonly string[] = Object.keys(schemas.answers)

/** What is wrong with an answer of a route, `refusal` for one that was refused; null when it is as the interface is described, and has nothing more. */
export function answerProblem(route: string, answer: unknown): string | null {
  const validate = ajv.getSchema(`answers#/answers/${encodeURIComponent(route.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
  if (validate === undefined) return `${route} has no schema`
  if (validate(answer)) return null
  return (validate.errors ?? [])
    .map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
    .join('\n')
}
