import { useTranslations } from 'next-intl'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { FileLinks } from '../data-out/file-links.tsx'
import { HIDEABLE, MAP_LAYERS, type MapLayer, type Place } from '../shell/place.ts'
import { StateIcon } from '../shell/state-icon.tsx'
import type { Van } from '../van/prepare-fleet.ts'
import styles from './map-menu.module.css'
import { countStates, depotsOf, fileFilter, toggled } from './prepare-filter.ts'

/** What is listed beside the map leaves as a file too. */
const SETS = ['fleet', 'no-signal', 'distances'] as const

export interface MapMenuProps {
  readonly fleet: readonly Van[]
  readonly place: Place
  readonly go: (change: Partial<Place>) => void
  /** How many zones of markets are drawn; null while that is not known. */
  readonly zones: number | 'failed' | null
}

/** What is on the map: layers, states, the vans of a depot. A button that shows and hides it; Escape, or a touch elsewhere, closes it. */
export function MapMenu(props: MapMenuProps) {
  const t = useTranslations('map')
  const { place } = props
  const [open, setOpen] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const opener = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!open) return
    const outside = (event: PointerEvent) => {
      if (event.target instanceof Node && box.current?.contains(event.target) !== true) setOpen(false)
    }
    document.addEventListener('pointerdown', outside)
    return () => document.removeEventListener('pointerdown', outside)
  }, [open])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !open) return
    // The card of the van listens too.
    event.stopPropagation()
    event.nativeEvent.stopImmediatePropagation()
    setOpen(false)
    opener.current?.focus()
  }
  const changed = place.layers.length > 0 || place.hidden.length > 0 || place.depot !== null
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only hears Escape from what is in it
    <div ref={box} className={styles.box} onKeyDown={onKeyDown}>
      <button
        ref={opener}
        type="button"
        aria-expanded={open}
        aria-controls="map-menu"
        data-changed={changed}
        onClick={() => setOpen(!open)}
      >
        <svg width="15" height="15" viewBox="0 0 16 16" aria-hidden="true">
          <path d="M8 2 1.500 5.500 8 9l6.500-3.500zM1.500 8.500 8 12l6.500-3.500M1.500 11.300 8 14.800l6.500-3.500" />
        </svg>
        {t('menu')}
      </button>
      <div id="map-menu" className={styles.menu} hidden={!open}>
        {open && <Choices {...props} />}
      </div>
    </div>
  )
}

function Choices({ fleet, place, go, zones }: MapMenuProps) {
  const t = useTranslations('map')
  const hintOf = (layer: MapLayer) => {
    if (layer === 'points' && place.van === null) return t('pointsNeedVan')
    if (layer !== 'zones' || !place.layers.includes('zones')) return undefined
    return zones === 'failed' ? t('zonesFailed') : zones === 0 ? t('noZones') : undefined
  }
  const counts = countStates(fleet, place.depot)
  const depots = useMemo(() => depotsOf(fleet), [fleet])
  const check = (id: string, label: string, checked: boolean, onChange: () => void, hint?: string) => (
    <label key={id} className={styles.choice}>
      <input type="checkbox" checked={checked} onChange={onChange} />
      <span>{label}</span>
      {hint !== undefined && <small>{hint}</small>}
    </label>
  )
  return (
    <>
      <fieldset>
        <legend>{t('layers')}</legend>
        {MAP_LAYERS.map((layer) =>
          check(
            layer,
            t(`layer.${layer}`),
            place.layers.includes(layer),
            () => go({ layers: toggled(place.layers, layer) }),
            hintOf(layer),
          ),
        )}
      </fieldset>
      <fieldset>
        <legend>{t('vans')}</legend>
        {HIDEABLE.filter((state) => counts[state] > 0 || place.hidden.includes(state)).map((state) => (
          <label key={state} className={styles.choice}>
            <input type="checkbox" checked={!place.hidden.includes(state)} onChange={() => go({ hidden: toggled(place.hidden, state) })} />
            <StateIcon state={state} size={14} />
            <span>{t(`state.${state}`)}</span>
            <small>{counts[state]}</small>
          </label>
        ))}
      </fieldset>
      {(depots.length > 1 || place.depot !== null) && (
        <label className={styles.depot}>
          <span>{t('depot')}</span>
          <select value={place.depot ?? ''} onChange={(event) => go({ depot: event.target.value || null })}>
            <option value="">{t('allDepots')}</option>
            {depots.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {(place.hidden.length > 0 || place.depot !== null) && (
        <button type="button" className={styles.all} onClick={() => go({ hidden: [], depot: null })}>
          {t('showAll')}
        </button>
      )}
      <fieldset>
        <legend>{t('files')}</legend>
        {SETS.map((set) => (
          <p key={set} className={styles.file}>
            <span>{t(`file.${set}`)}</span>
            <FileLinks
              what={t(`file.${set}`)}
              links={(['csv', 'geojson'] as const).map((format) => ({
                format: format === 'csv' ? 'CSV' : 'GeoJSON',
                from: `/api/${set}.${format}${fileFilter(place, set)}`,
              }))}
            />
          </p>
        ))}
      </fieldset>
    </>
  )
}
