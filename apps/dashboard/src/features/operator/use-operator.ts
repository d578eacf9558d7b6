'use client'

import type { Actor, OperatorView } from '@km0/contracts/panel'
import { useCallback, useEffect, useState } from 'react'
import { type Answer, postJson } from './post-json.ts'

export interface OperatorHandle {
  /** null until a name is known. */
  readonly operator: Actor | null
  readonly setName: (name: string) => Promise<Answer<OperatorView>>
}

/** Who sits at this browser. The name is asked for once and kept in a cookie that scripts cannot read. */
export function useOperator(): OperatorHandle {
  const [operator, setOperator] = useState<Actor | null>(null)
  useEffect(() => {
    const abort = new AbortController()
    fetch('/api/operator', { signal: abort.signal })
      .then(async (response) => {
        if (response.ok) setOperator(((await response.json()) as OperatorView).operator)
      })
      // Without an answer the name is asked for again.
      .catch(() => undefined)
    return () => abort.abort()
  }, [])
  const setName = useCallback(async (name: string) => {
    const answer = await postJson<OperatorView>('/api/operator', { name })
    if (answer.ok) setOperator(answer.value.operator)
    return answer
  }, [])
  return { operator, setName }
}
