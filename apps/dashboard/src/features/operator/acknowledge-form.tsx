'use client'

import { useTranslations } from 'next-intl'
import { NoteDialog } from '../shell/note-dialog.tsx'
import type { Answer } from './post-json.ts'

/** The dialog in which somebody takes something on: a note for everybody. It is open while `subject` is not null. */
export function AcknowledgeForm(props: {
  readonly subject: string | null
  readonly title: string
  readonly lead: string
  readonly notePlaceholder: string
  /** null while there is nothing that could be sent. */
  readonly send: ((note: string) => Promise<Answer<unknown>>) | null
  readonly onClose: () => void
}) {
  const t = useTranslations('acknowledge')
  const { send } = props
  const store = async (note: string): Promise<string | null> => {
    const answer = send === null ? null : await send(note)
    return answer === null || answer.ok ? null : t('failed', { reason: answer.reason ?? t('offline') })
  }
  return (
    <NoteDialog
      subject={props.subject}
      title={props.title}
      lead={props.lead}
      label={t('note')}
      placeholder={props.notePlaceholder}
      rows={3}
      action={t('send')}
      sending={t('sending')}
      send={send === null ? null : store}
      onClose={props.onClose}
    />
  )
}
