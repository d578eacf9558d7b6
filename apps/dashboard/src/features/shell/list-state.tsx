import { useTranslations } from 'next-intl'
import { isoDuration, shortAge } from '../feed/durations.ts'
import styles from './card.module.css'
import type { Polled } from './use-polled.ts'

/** `stale`: there is something, but it is old. */
export type ListStatus = 'loading' | 'ready' | 'stale' | 'error'

const MARKS = {
  ok: 'M20 11a9 9 0 1 1-5-8.1M8 11l3.2 3.2L20 5.4',
  waiting: 'M11 2a9 9 0 1 0 0 18 9 9 0 0 0 0-18M11 6v5l3.4 2',
  stale:
    'M3 3l16 16M6.5 12.5a6.4 6.4 0 0 1 3-1.6M3.4 9.2A11 11 0 0 1 7 6.8M18.6 9.2A11 11 0 0 0 9.7 6M15.5 12.5a6.4 6.4 0 0 0-2-1.3M11 16.5h.01',
  error: 'M11 7v5M11 15h.01M9.6 3.2 1.8 17a1.6 1.6 0 0 0 1.4 2.4h15.6a1.6 1.6 0 0 0 1.4-2.4L12.4 3.2a1.6 1.6 0 0 0-2.8 0z',
} as const

/** What stands where rows would: that there are none, and what that means. */
export function EmptyState(props: { readonly kind: keyof typeof MARKS; readonly title: string; readonly hint: string }) {
  return (
    <div className={styles.empty} data-kind={props.kind}>
      <svg
        width="26"
        height="26"
        viewBox="0 0 22 22"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.6"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
      >
        <path d={MARKS[props.kind]} />
      </svg>
      <strong>{props.title}</strong>
      <p>{props.hint}</p>
    </div>
  )
}

export function LoadingRows({ rows }: { readonly rows: number }) {
  const t = useTranslations('loading')
  return (
    <div className={styles.skeleton} role="status">
      <span className="visually-hidden">{t('list')}</span>
      {Array.from({ length: rows }, (_, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike
        <i key={n} style={{ opacity: 1 - n / (rows + 1) }} />
      ))}
    </div>
  )
}

/** Says of what is shown that it is old, and how old. */
export function StaleNote({ ageMs }: { readonly ageMs: number }) {
  const t = useTranslations('shell')
  return (
    <p className={styles.stale} role="status">
      <time dateTime={isoDuration(ageMs)}>{t('stale', { age: shortAge(ageMs) })}</time> {t('staleHint')}
    </p>
  )
}

/**
 * What stands instead of an answer that is asked for again and again, or over one that is old: loading, why not, how old. Nothing while it is fresh;
 * that an answer holds nothing is for whoever draws it to say.
 */
export function PolledState({
  polled,
  rows,
}: {
  readonly polled: Pick<Polled<unknown>, 'line' | 'reason' | 'ageMs'>
  readonly rows: number
}) {
  const t = useTranslations('error')
  if (polled.line === 'loading') return <LoadingRows rows={rows} />
  if (polled.line === 'failed') return <EmptyState kind="error" title={t('title')} hint={polled.reason ?? t('hint')} />
  return polled.line === 'stale' ? <StaleNote ageMs={polled.ageMs} /> : null
}
