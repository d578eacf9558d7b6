'use client'

import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { postJson } from './post-json.ts'

/**
 * A command of a form: whether it is on its way, and why it was not carried out, in words. `send` resolves to its value; to null when it was
 * refused or its answer was lost, and while another one is on its way. `fail` says what keeps it from being sent; null takes that back.
 */
export function useCommand() {
  const offline = useTranslations('acknowledge')
  const [sending, setSending] = useState(false)
  const [failure, fail] = useState<string | null>(null)
  const send = async <Value>(path: string, body: unknown): Promise<{ readonly value: Value } | null> => {
    if (sending) return null
    setSending(true)
    fail(null)
    const answer = await postJson<Value>(path, body)
    setSending(false)
    if (answer.ok) return { value: answer.value }
    fail(answer.reason ?? offline('offline'))
    return null
  }
  return { sending, failure, fail, send }
}
