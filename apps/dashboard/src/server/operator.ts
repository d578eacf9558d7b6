import type { Actor } from '@km0/contracts'
import { z } from 'zod'

export const OPERATOR_COOKIE = 'km0_operator'
const YEAR_S = 31_536_000

/** Until there is sign-in, whoever opens the panel is a dispatcher with the name they give. */
const ROLES = ['dispatcher'] as const

export const operatorName = z
  .string()
  .trim()
  .min(1, 'a name is needed')
  .max(60, 'at most 60 characters')
  .refine((name) => ![...name].some((character) => character < ' '), 'no control characters')

const stored = z.object({ id: z.string().regex(/^local:[0-9a-f-]{36}$/), name: operatorName })

/** The local operator that a Cookie header names; null when it names none, or a damaged one. */
export function readOperator(cookieHeader: string | undefined): Actor | null {
  const text = cookies(cookieHeader).get(OPERATOR_COOKIE)
  if (text === undefined) return null
  try {
    const parsed = stored.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')))
    return parsed.success ? { ...parsed.data, roles: ROLES } : null
  } catch {
    return null
  }
}

export function localOperator(id: string, name: string): Actor {
  return { id, name, roles: ROLES }
}

/** Set-Cookie header that keeps the operator for a year. */
export function operatorCookie(operator: Actor): string {
  const text = Buffer.from(JSON.stringify({ id: operator.id, name: operator.name }), 'utf8').toString('base64url')
  return `${OPERATOR_COOKIE}=${text}; Path=/; Max-Age=${YEAR_S}; HttpOnly; SameSite=Strict`
}

function cookies(header: string | undefined): Map<string, string> {
  return new Map(
    (header ?? '').split(';').flatMap((pair) => {
      const at = pair.indexOf('=')
      return at < 0 ? [] : [[pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const]
    }),
  )
}
