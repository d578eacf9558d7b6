import type { BackfillsView } from '@km0/contracts/backfill-panel'
import { useTranslations } from 'next-intl'
import { DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import { EmptyState } from '../shell/list-state.tsx'
import styles from './backfills.module.css'
import { useRangeText } from './range-text.tsx'

/** Every run, newest first, with what of it is served. */
export function HistoryCard(props: {
  readonly view: BackfillsView
  readonly chosen: number | null
  readonly onChoose: (id: number) => void
}) {
  const t = useTranslations('backfills')
  const format = useTimes()
  const rangeText = useRangeText()
  const { backfills } = props.view
  return (
    <section className={card.card} aria-labelledby="history-title">
      <header className={card.head}>
        <h2 id="history-title">{t('history')}</h2>
      </header>
      {backfills.length === 0 && <EmptyState kind="waiting" title={t('noneTitle')} hint={t('none')} />}
      <ul className={`${styles.rows} ${card.scroll}`}>
        {backfills.map((backfill) => (
          <li key={backfill.id}>
            <button
              type="button"
              className={styles.row}
              aria-current={props.chosen === backfill.id ? 'true' : undefined}
              data-version={backfill.id}
              data-state={backfill.state}
              onClick={() => props.onChoose(backfill.id)}
            >
              <span>
                <b>v{backfill.id}</b> {rangeText(backfill.request)}
              </span>
              <small>
                {backfill.servedHours > 0 ? t('served') : t(`state.${backfill.state}`)} · {backfill.actor.name},{' '}
                {format.dateTime(backfill.requestedAtMs, DAY_AND_CLOCK)}
              </small>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
