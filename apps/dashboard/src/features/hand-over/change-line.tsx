import type { HandOverChange } from '@km0/contracts/dispatch'
import { useTranslations } from 'next-intl'
import { clockDuration } from '../feed/durations.ts'
import { CLOCK, DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import { CorrectionWords } from '../no-signal/correction-words.tsx'
import { correctionOf } from '../no-signal/prepare-corrections.ts'
import styles from './hand-over.module.css'

/** One thing that happened: when, what, and of a silence what was known then and is known now. */
export function ChangeLine(props: {
  readonly change: HandOverChange
  readonly nowMs: number
  readonly nameOf: (van: string) => string
  readonly depotOf: (depot: string) => string
}) {
  const t = useTranslations('handOver')
  const format = useTimes()
  const { change, nowMs } = props
  const clock = (ms: number) => format.dateTime(ms, nowMs - ms > 12 * 3_600_000 ? DAY_AND_CLOCK : CLOCK)
  const name =
    'mute' in change
      ? change.mute.kind === 'van'
        ? props.nameOf(change.mute.subject)
        : props.depotOf(change.mute.subject)
      : props.nameOf(change.van)
  const words = () => {
    switch (change.kind) {
      case 'new':
        return change.episode.endedMs === null ? t('said.new') : t('said.newEnded', { duration: lengthOf(change.episode) })
      case 'returned':
        return t('said.returned', { duration: lengthOf(change.episode) })
      case 'acknowledged':
        return t('said.acknowledged', { who: change.actor.name })
      case 'muted':
        return t('said.muted', { who: change.actor.name, until: change.mute.untilMs === null ? t('lifted') : clock(change.mute.untilMs) })
      case 'unmuted':
        return change.atMs === change.mute.untilMs ? t('said.ranOut') : t('said.unmuted', { who: change.actor.name })
    }
  }
  const note = change.kind === 'acknowledged' ? change.note : change.kind === 'muted' ? change.mute.note : ''
  const episode = change.kind === 'new' || change.kind === 'returned' ? change.episode : null
  const correction = episode === null ? null : correctionOf(episode, nowMs)
  return (
    <li data-change={change.kind}>
      <time dateTime={new Date(change.atMs).toISOString()}>{clock(change.atMs)}</time>
      <div>
        <b>{name}</b> {words()}
        {note !== '' && ` — ${note}`}
        {episode?.overOutage === true && <span className={styles.ours}> {t('ours')}</span>}
        {correction !== null && <CorrectionWords correction={correction} />}
      </div>
    </li>
  )
}

const lengthOf = ({ sinceMs, endedMs }: { readonly sinceMs: number; readonly endedMs: number | null }) =>
  clockDuration((endedMs ?? sinceMs) - sinceMs)
