import { useTranslations } from 'next-intl'
import { clockDuration, isoDuration } from '../feed/durations.ts'
import { DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import { CorrectionWords } from '../no-signal/correction-words.tsx'
import type { NoSignalList } from '../no-signal/prepare-no-signal.ts'
import { EmptyState } from '../shell/list-state.tsx'
import styles from './hand-over.module.css'

/** The silences that last, as the panel has them, with notes; then what is muted and who is not expected. */
export function OpenSilences(props: {
  readonly list: NoSignalList
  readonly nameOf: (van: string) => string
  readonly depotOf: (depot: string) => string
}) {
  const t = useTranslations()
  const format = useTimes()
  const { rows, mutes, away, muted } = props.list
  const clock = (ms: number) => format.dateTime(ms, DAY_AND_CLOCK)
  const asides = [
    ...(muted.length > 0 ? [t('handOver.mutedSilent', { count: muted.length })] : []),
    ...(away.off.length > 0 ? [t('noSignal.awayOff', { count: away.off.length })] : []),
    ...(away.atDepot.length > 0 ? [t('noSignal.awayAtDepot', { count: away.atDepot.length })] : []),
  ]
  return (
    <>
      {rows.length === 0 && <EmptyState kind="ok" title={t('noSignal.emptyTitle')} hint={t('noSignal.empty')} />}
      {rows.length > 0 && (
        <ul className={styles.open}>
          {rows.map((row) => (
            <li key={row.key} data-van={row.key} data-band={row.band}>
              <time dateTime={isoDuration(row.durationMs)}>{clockDuration(row.durationMs)}</time>
              <div>
                <a href={`/?van=${encodeURIComponent(row.key)}`}>{row.van.name}</a> {row.van.place ?? t('noSignal.nowhere')},{' '}
                {t('handOver.sinceTime', { time: clock(row.lastMs) })}
                {row.van.depotName !== null && <small> · {row.van.depotName}</small>}
                {row.correction !== null && <CorrectionWords correction={row.correction} />}
                {row.acknowledgement === null ? (
                  <p className={styles.nobody}>{t('handOver.nobody')}</p>
                ) : (
                  <p>
                    <b>{t('noSignal.acknowledgedBy', { name: row.acknowledgement.actor.name, time: clock(row.acknowledgement.atMs) })}</b>
                    {row.acknowledgement.note !== '' && ` — ${row.acknowledgement.note}`}
                  </p>
                )}
              </div>
            </li>
          ))}
        </ul>
      )}
      {mutes.length > 0 && (
        <ul className={styles.mutes}>
          {mutes.map((mute) => (
            <li key={mute.id}>
              {t('handOver.mutedNow', {
                name: mute.kind === 'van' ? props.nameOf(mute.subject) : t('mute.theDepot', { depot: props.depotOf(mute.subject) }),
                until: mute.untilMs === null ? t('mute.untilLifted') : t('mute.untilTime', { time: clock(mute.untilMs) }),
                who: mute.actor.name,
              })}
              {mute.note !== '' && ` — ${mute.note}`}
            </li>
          ))}
        </ul>
      )}
      {asides.length > 0 && <p className={styles.more}>{asides.join(' · ')}</p>}
    </>
  )
}
