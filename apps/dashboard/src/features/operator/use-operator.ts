'use client'

import type { Actor } from '@km0/contracts/panel'
import { useSession } from '../sign-in/use-session.ts'

export interface OperatorHandle {
  /** Who is signed in here; null until that is known, and while nobody is. */
  readonly operator: Actor | null
}

/** Who sits at this browser. */
export function useOperator(): OperatorHandle {
  return { operator: useSession()?.actor ?? null }
}
