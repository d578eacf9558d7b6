'use client'

import type { MuteView } from '@km0/contracts/dispatch'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { clockDuration } from '../feed/durations.ts'
import { CLOCK, DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import { postJson } from '../operator/post-json.ts'
import { useMay } from '../sign-in/use-session.ts'
import type { Van } from '../van/prepare-fleet.ts'
import styles from './dispatch-lines.module.css'
import type { NoSignalList } from './prepare-no-signal.ts'

/** What somebody has muted, counted in one line that opens: of whom, until when, by whom; and who of them is silent. */
export function MutedLine(props: {
  readonly list: Pick<NoSignalList, 'muted' | 'mutes'>
  readonly fleet: readonly Van[]
  readonly nowMs: number
  readonly onSelect: (van: string) => void
}) {
  const t = useTranslations('mute')
  const { muted, mutes } = props.list
  if (mutes.length === 0) return null
  return (
    <details className={styles.muted} data-mutes={mutes.length}>
      <summary>
        {t('line', { count: mutes.length })}
        {muted.length > 0 && ` · ${t('lineSilent', { count: muted.length })}`}
      </summary>
      <ul>
        {mutes.map((mute) => (
          <MuteItem key={mute.id} mute={mute} fleet={props.fleet} nowMs={props.nowMs} />
        ))}
      </ul>
      {muted.length > 0 && (
        <ul>
          {muted.map((row) => (
            <li key={row.key}>
              <button type="button" className={styles.link} onClick={() => props.onSelect(row.key)}>
                {row.van.name}
              </button>
              <span>{clockDuration(row.durationMs)}</span>
            </li>
          ))}
        </ul>
      )}
    </details>
  )
}

/** A mute in force: of whom, until when, by whom and why; whoever may lifts it. */
export function MuteItem({ mute, fleet, nowMs }: { readonly mute: MuteView; readonly fleet: readonly Van[]; readonly nowMs: number }) {
  const t = useTranslations('mute')
  const format = useTimes()
  const may = useMay('dispatcher')
  const [failure, setFailure] = useState<string | null>(null)
  const clock = (ms: number) => format.dateTime(ms, Math.abs(ms - nowMs) > 12 * 3_600_000 ? DAY_AND_CLOCK : CLOCK)
  const name =
    mute.kind === 'van'
      ? (fleet.find(({ van }) => van === mute.subject)?.name ?? mute.subject)
      : t('theDepot', { depot: fleet.find(({ depotId }) => depotId === mute.subject)?.depotName ?? mute.subject })
  const lift = async () => {
    const answer = await postJson('/api/mutes/lift', { id: mute.id })
    setFailure(answer.ok ? null : (answer.reason ?? t('offline')))
  }
  return (
    <li data-mute={mute.subject}>
      <span>
        <b>{name}</b> {mute.untilMs === null ? t('untilLifted') : t('untilTime', { time: clock(mute.untilMs) })}
        <small>
          {t('by', { name: mute.actor.name, time: clock(mute.atMs) })}
          {mute.note !== '' && ` — ${mute.note}`}
        </small>
        {failure !== null && <small role="alert">{t('failed', { reason: failure })}</small>}
      </span>
      {may && (
        <button type="button" className={styles.lift} aria-label={t('liftOf', { name })} onClick={() => void lift()}>
          {t('lift')}
        </button>
      )}
    </li>
  )
}
