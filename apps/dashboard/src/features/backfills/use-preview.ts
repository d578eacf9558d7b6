'use client'

import type { BackfillPreview, BackfillRequest } from '@km0/contracts/backfill'
import { useEffect, useState } from 'react'
import { postJson } from '../operator/post-json.ts'

/** A worker may have a queue before it. */
const TIMEOUT_MS = 65_000

export interface Previewed {
  readonly preview: BackfillPreview | null
  readonly state: 'asking' | 'ready' | 'failed'
  /** Why it failed, in the server's words; null without an answer. */
  readonly reason: string | null
}

const ASKING: Previewed = { preview: null, state: 'asking', reason: null }

/** What a backfill would do. Asked once for each request (by value) and `round`. */
export function usePreview(request: BackfillRequest, round = 0): Previewed {
  const [previewed, setPreviewed] = useState<Previewed>(ASKING)
  const asked = JSON.stringify({ request })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round asks again
  useEffect(() => {
    let isOver = false
    setPreviewed(ASKING)
    postJson<BackfillPreview>('/api/backfills/preview', JSON.parse(asked), TIMEOUT_MS).then((answer) => {
      if (isOver) return
      setPreviewed(
        answer.ok ? { preview: answer.value, state: 'ready', reason: null } : { preview: null, state: 'failed', reason: answer.reason },
      )
    })
    return () => {
      isOver = true
    }
  }, [asked, round])
  return previewed
}
