import { useTranslations } from 'next-intl'
import type { ReactNode } from 'react'
import { DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import { StateIcon } from '../shell/state-icon.tsx'
import { useMay } from '../sign-in/use-session.ts'
import type { Van } from '../van/prepare-fleet.ts'
import styles from './no-signal.module.css'
import type { AwayList } from './prepare-no-signal.ts'

/** Vans that nobody expects to hear, counted in one line that opens; those that are heard all the same come first. */
export function AwayLine({ away, onSelect }: { readonly away: AwayList; readonly onSelect: (van: string) => void }) {
  const t = useTranslations('noSignal')
  const { off, atDepot, retired, heard, unregistered } = away
  const mayRegister = useMay('administrator')
  const parts = [
    ...(off.length > 0 ? [t('awayOff', { count: off.length })] : []),
    ...(atDepot.length > 0 ? [t('awayAtDepot', { count: atDepot.length })] : []),
    ...(retired.length > 0 ? [t('awayRetired', { count: retired.length })] : []),
    ...(heard.length > 0 ? [t('awayHeard', { count: heard.length })] : []),
    ...(unregistered.length > 0 ? [t('awayUnregistered', { count: unregistered.length })] : []),
  ]
  if (parts.length === 0) return null
  return (
    <details className={styles.notSeen} data-away={off.length + atDepot.length + retired.length}>
      <summary>{parts.join(' · ')}</summary>
      <ul>
        {heard.map((van) => (
          <AwayVan key={van.van} van={van} words={t('heardOff')} onSelect={onSelect} />
        ))}
        {unregistered.map((van) => (
          <AwayVan key={van.van} van={van} words={t('notRegistered')} onSelect={onSelect}>
            {mayRegister && <a href={`/flota?${new URLSearchParams({ new: van.van })}`}>{t('register')}</a>}
          </AwayVan>
        ))}
        {[...off, ...atDepot, ...retired].map((van) => (
          <AwayVan key={van.van} van={van} words={null} onSelect={onSelect} />
        ))}
      </ul>
    </details>
  )
}

function AwayVan(props: {
  readonly van: Van
  readonly words: string | null
  readonly onSelect: (van: string) => void
  readonly children?: ReactNode
}) {
  const t = useTranslations()
  const format = useTimes()
  const { van } = props
  const seen = van.lastMs === null ? t('noSignal.neverSeen') : t('noSignal.lastHeard', { date: format.dateTime(van.lastMs, DAY_AND_CLOCK) })
  return (
    <li>
      <button type="button" data-duty={van.duty} onClick={() => props.onSelect(van.van)}>
        <span>
          <StateIcon state={van.state} size={13} /> {van.name}
          <small> {props.words ?? t(`duty.${van.duty}`)}</small>
        </span>
        <span>{seen}</span>
      </button>
      {props.children}
    </li>
  )
}
