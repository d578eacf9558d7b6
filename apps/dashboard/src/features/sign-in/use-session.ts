'use client'

import type { PersonRole, SessionView } from '@km0/contracts/sign-in'
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

/** Whether somebody with that role may act here; an administrator may always. While nobody knows who it is, the server says it. */
export function useMay(role: PersonRole): boolean {
  const roles = useSession()?.actor.roles ?? null
  return roles === null || roles.includes(role) || roles.includes('administrator')
}
