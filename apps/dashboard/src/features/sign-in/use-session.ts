'use client'

import type { SessionView } from '@km0/contracts/sign-in'
import { useSyncExternalStore } from 'react'
import { sessionLine } from './session-line.ts'

/** Who is signed in on this page; null until that is known. After an expiry it is who was. */
export function useSession(): SessionView['session'] {
  return useSyncExternalStore(
    sessionLine.watch,
    () => sessionLine.session ?? null,
    () => null,
  )
}

/** Whether the session of this page has ended. */
export function useSessionLost(): boolean {
  return useSyncExternalStore(
    sessionLine.watch,
    () => sessionLine.isLost,
    () => false,
  )
}
