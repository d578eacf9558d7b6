import { BACKFILL_KINDS } from '@km0/contracts/backfill'
import type { BackfillOneView } from '@km0/contracts/backfill-panel'
import { useTranslations } from 'next-intl'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import styles from './lineage.module.css'
import { useRangeText } from './range-text.tsx'

/** Where a version comes from and where it goes: what was read, by which run, into which version, and which tables serve it. */
export function LineageCard({ view }: { readonly view: BackfillOneView }) {
  const t = useTranslations('backfills.lineage')
  const tKind = useTranslations('backfills.lineage.kind')
  const tState = useTranslations('backfills.state')
  const format = useTimes()
  const rangeText = useRangeText()
  const { backfill } = view
  const { request, snapshot, points, rows, hours, servedHours, state, code } = backfill
  const lakeTable = request.pipeline === 'positions' ? 'positions' : 'stock_events'
  const served = servedHours === 0 ? 'nothing' : servedHours < hours ? 'part' : 'all'
  return (
    <section className={card.card} aria-labelledby="lineage-title">
      <header className={card.head}>
        <h2 id="lineage-title">{t('title')}</h2>
      </header>
      <ol className={styles.graph} aria-labelledby="lineage-title">
        <li className={styles.node} data-node="input">
          <span className={styles.what}>{t('input')}</span>
          <code>lake.{lakeTable}</code>
          <small>{t('snapshot', { snapshot })}</small>
          <small>{t('points', { count: points })}</small>
          <small>{rangeText(request)}</small>
        </li>
        <li className={styles.node} data-node="run" data-state={state}>
          <span className={styles.what}>{t('run')}</span>
          <b>{tState(state)}</b>
          <small className={styles.code}>{code}</small>
        </li>
        <li className={styles.node} data-node="version" data-state={state}>
          <span className={styles.what}>{t('version')}</span>
          <b>v{backfill.id}</b>
          <small>{t('rows', { count: rows })}</small>
        </li>
        <li className={styles.node} data-node="served" data-served={served}>
          <span className={styles.what}>{t(`served.${served}`)}</span>
          {BACKFILL_KINDS[request.pipeline].map((kind) => (
            <span key={kind} title={tKind(kind)}>
              <code>served_{kind}</code>
            </span>
          ))}
          <small>{t('share', { share: format.number(hours === 0 ? 0 : servedHours / hours, { style: 'percent' }) })}</small>
        </li>
      </ol>
    </section>
  )
}
