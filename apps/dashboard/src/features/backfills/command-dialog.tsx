'use client'

import { useTranslations } from 'next-intl'
import { postJson } from '../operator/post-json.ts'
import { NoteDialog } from '../shell/note-dialog.tsx'

/** A worker may have a queue before it. */
const TIMEOUT_MS = 65_000

/** Asks why, then sends the command; stays open and says so when it is refused. */
export function CommandDialog<Value>(props: {
  readonly open: boolean
  readonly title: string
  readonly lead: string
  readonly action: string
  readonly path: string
  readonly body: (reason: string) => unknown
  readonly onDone: (value: Value) => void
  readonly onClose: () => void
}) {
  const t = useTranslations()
  const send = async (reason: string): Promise<string | null> => {
    const answer = await postJson<Value>(props.path, props.body(reason), TIMEOUT_MS)
    if (!answer.ok) return answer.reason ?? t('acknowledge.offline')
    props.onDone(answer.value)
    return null
  }
  return (
    <NoteDialog
      subject={props.open ? props.path : null}
      title={props.title}
      lead={props.lead}
      label={t('backfills.reason')}
      rows={2}
      action={props.action}
      sending={t('backfills.sending')}
      send={send}
      onClose={props.onClose}
    />
  )
}
