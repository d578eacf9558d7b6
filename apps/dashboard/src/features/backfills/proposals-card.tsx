import type { BackfillRequest } from '@km0/contracts/backfill'
import type { BackfillProposals } from '@km0/contracts/backfill-panel'
import { useTranslations } from 'next-intl'
import { DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import { EmptyState } from '../shell/list-state.tsx'
import styles from './backfills.module.css'
import { useRangeText } from './range-text.tsx'

const SHOWN = 12

/** The smallest backfills that would bring in what is late. */
export function ProposalsCard({ dirty, onAsk }: { readonly dirty: BackfillProposals; readonly onAsk: (request: BackfillRequest) => void }) {
  const t = useTranslations('backfills')
  const rangeText = useRangeText()
  const format = useTimes()
  const shown = dirty.proposals.slice(0, SHOWN)
  return (
    <section className={card.card} aria-labelledby="dirty-title" data-points={dirty.points}>
      <header className={card.head}>
        <h2 id="dirty-title">{t('dirty')}</h2>
        <span className={card.aside}>{dirty.points > 0 && t('dirtyPoints', { count: dirty.points })}</span>
      </header>
      {shown.length === 0 && dirty.waiting === null && <EmptyState kind="ok" title={t('cleanTitle')} hint={t('clean')} />}
      {shown.length > 0 && (
        <p className={styles.more}>
          {t('dirtyCost', { rows: dirty.rowsToRead, seconds: Math.max(1, Math.round(dirty.expectedMs / 1000)) })}
        </p>
      )}
      <ul className={styles.rows}>
        {shown.map(({ request, points }) => (
          <li key={`${request.fromMs}|${request.toMs}|${request.owners?.join()}`}>
            <button type="button" className={styles.row} onClick={() => onAsk(request)}>
              <span>{rangeText(request)}</span>
              <small>{t('dirtyPoints', { count: points })}</small>
            </button>
          </li>
        ))}
      </ul>
      {dirty.waiting !== null && (
        <p className={styles.more}>
          {t('waiting', { count: dirty.waiting.hours, until: format.dateTime(dirty.waiting.untilMs, DAY_AND_CLOCK) })}
        </p>
      )}
      {dirty.proposals.length > SHOWN && <p className={styles.more}>{t('more', { count: dirty.proposals.length - SHOWN })}</p>}
    </section>
  )
}
