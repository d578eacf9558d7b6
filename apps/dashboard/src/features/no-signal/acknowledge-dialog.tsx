'use client'

import type { AcknowledgementCommand, AcknowledgementView } from '@km0/contracts/panel'
import { useTranslations } from 'next-intl'
import { AcknowledgeForm } from '../operator/acknowledge-form.tsx'
import { postJson } from '../operator/post-json.ts'
import type { NoSignalRow } from './prepare-no-signal.ts'

/** Takes a silence on. */
export function AcknowledgeDialog(props: { readonly row: NoSignalRow | null; readonly onClose: () => void }) {
  const t = useTranslations('acknowledge')
  const { row } = props
  const sinceMs = row?.van.sinceMs ?? null
  return (
    <AcknowledgeForm
      subject={row?.key ?? null}
      title={t('title', { van: row?.van.name ?? '' })}
      lead={t('lead')}
      notePlaceholder={t('notePlaceholder')}
      onClose={props.onClose}
      send={row === null || sinceMs === null ? null : (note) => acknowledge({ van: row.key, sinceMs, note })}
    />
  )
}

const acknowledge = (command: AcknowledgementCommand) => postJson<AcknowledgementView>('/api/acknowledgements', command)
