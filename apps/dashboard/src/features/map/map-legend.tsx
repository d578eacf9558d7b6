import { useTranslations } from 'next-intl'
import type { Hideable, Place } from '../shell/place.ts'
import { StateIcon } from '../shell/state-icon.tsx'
import styles from './map-view.module.css'
import { toggled } from './prepare-filter.ts'
import type { Marker } from './prepare-markers.ts'

const ALWAYS = ['moving', 'stopped', 'provisional', 'silent'] as const

/** What markers mean; each is a switch that leaves its vans out of the map. */
export function MapLegend(props: {
  readonly markers: readonly Marker[]
  readonly place: Place
  readonly go: (change: Partial<Place>) => void
}) {
  const t = useTranslations('map')
  const { place, go } = props
  const withUnknown = place.hidden.includes('unknown') || props.markers.some((marker) => marker.icon === 'unknown')
  const states: readonly Hideable[] = withUnknown ? [...ALWAYS, 'unknown'] : ALWAYS
  return (
    <ul className={styles.legend} aria-label={t('legend')}>
      {states.map((state) => (
        <li key={state}>
          <button
            type="button"
            aria-pressed={!place.hidden.includes(state)}
            title={t(place.hidden.includes(state) ? 'showState' : 'hideState')}
            onClick={() => go({ hidden: toggled(place.hidden, state) })}
          >
            <StateIcon state={state} /> {t(`state.${state}`)}
          </button>
        </li>
      ))}
      <li>
        <StateIcon state="moving" doubtful /> {t('legendDoubtful')}
      </li>
    </ul>
  )
}
