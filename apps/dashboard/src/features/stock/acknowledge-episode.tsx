'use client'

import type { StockAcknowledgementCommand, StockAcknowledgementView } from '@km0/contracts/stock-panel'
import { useTranslations } from 'next-intl'
import { AcknowledgeForm } from '../operator/acknowledge-form.tsx'
import { postJson } from '../operator/post-json.ts'
import type { EpisodeRow } from './prepare-stock.ts'

/** Takes an episode on. It holds for the episode. */
export function AcknowledgeEpisode(props: { readonly row: EpisodeRow | null; readonly onClose: () => void }) {
  const t = useTranslations('stock')
  const { row } = props
  return (
    <AcknowledgeForm
      subject={row?.key ?? null}
      title={row === null ? '' : t('acknowledgeTitle', { product: row.episode.product, market: row.episode.market })}
      lead={t('acknowledgeLead')}
      notePlaceholder={t('notePlaceholder')}
      onClose={props.onClose}
      send={row === null ? null : (note) => acknowledge(row, note)}
    />
  )
}

function acknowledge({ episode: { product, market, startMs } }: EpisodeRow, note: string) {
  const command: StockAcknowledgementCommand = { product, market, startMs, note }
  return postJson<StockAcknowledgementView>('/api/stock/acknowledgements', command)
}
