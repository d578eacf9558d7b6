import type { Role, Scope, SessionKind } from '@km0/contracts'
import { z } from 'zod'

/** Who may be shown pseudonyms and a grid: a role, wherever it looks, or in files that it takes away. */
export const MASKABLE = ['dispatcher', 'analyst', 'wall', 'reader', 'exports:dispatcher', 'exports:analyst', 'exports:reader'] as const

export const maskingEnvironment = {
  KM0_MASKED: z
    .string()
    .default('exports:analyst')
    .transform((text) => text.split(',').flatMap((word) => (word.trim() === '' ? [] : [word.trim()])))
    .pipe(z.array(z.enum(MASKABLE)))
    .describe('whose vans have pseudonyms and lie on a grid: roles, or exports:ROLE for their files; comma separated'),
  KM0_MASK_GRID_M: z.coerce.number().int().min(100).max(100_000).default(1_000).describe('metres of a cell of that grid'),
  KM0_OFF_SHIFT_GRID_M: z.coerce
    .number()
    .int()
    .min(0)
    .max(100_000)
    .default(0)
    .describe('metres of the cell in which vans off shift are shown to all but administrators; 0: where they are'),
  KM0_PSEUDONYM_KEY: z.string().min(16).optional().describe('secret that pseudonyms are made with; absent: others after each start'),
}

export interface MaskingRules {
  readonly masked: readonly (typeof MASKABLE)[number][]
  readonly gridM: number
  readonly offShiftGridM: number
}

export const maskingRules = (settings: z.infer<z.ZodObject<typeof maskingEnvironment>>): MaskingRules => ({
  masked: settings.KM0_MASKED,
  gridM: settings.KM0_MASK_GRID_M,
  offShiftGridM: settings.KM0_OFF_SHIFT_GRID_M,
})

export const NO_MASKING: MaskingRules = { masked: [], gridM: 1_000, offShiftGridM: 0 }

/** What somebody may see, and what files of theirs may hold. `isMasked`: the key itself says so. */
export function limitedScopes(
  rules: MaskingRules,
  who: { readonly kind: SessionKind; readonly roles: readonly string[]; readonly scope: Scope; readonly isMasked: boolean },
): { readonly scope: Scope; readonly exportScope: Scope } {
  const is = (word: string) => (rules.masked as readonly string[]).includes(word)
  const isMasked = who.isMasked || who.roles.some(is)
  const coarse = rules.offShiftGridM > 0 && !who.roles.includes('administrator' satisfies Role)
  const scope: Scope = { ...who.scope, ...(isMasked ? { masked: true } : {}), ...(coarse ? { coarseOffShift: true } : {}) }
  const isExport = isMasked || who.roles.some((role) => is(`exports:${role}`))
  return { scope, exportScope: isExport ? { ...scope, masked: true } : scope }
}
