import { madridDate } from '@km0/contracts/madrid'
import { useTranslations } from 'next-intl'
import { useEffect, useRef, useState } from 'react'
import { FileLinks } from '../data-out/file-links.tsx'
import { csvFile, fileName, fileStamp, geoJsonFile } from '../data-out/table-files.ts'
import { shortAge } from '../feed/durations.ts'
import { CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import { StateIcon } from '../shell/state-icon.tsx'
import { addressOfVanPage } from '../van-page/van-page-place.ts'
import { momentTable } from './prepare-files.ts'
import type { ReplayMoment, ReplayState, ReplayVan } from './prepare-replay.ts'
import styles from './replay.module.css'

const STATES: readonly ReplayState[] = ['moving', 'stopped', 'silent', 'unknown', 'no-data']
/** Rows that are drawn without asking. */
const SHOWN = 300
const ICONS = { moving: 'moving', stopped: 'stopped', silent: 'silent', unknown: 'unknown', 'no-data': 'unheard' } as const

/** Everybody at the moment: state, place, and how old that was. */
export function ReplayList(props: {
  readonly moment: ReplayMoment | null
  readonly atMs: number
  readonly selected: string | null
  readonly onSelect: (van: string | null) => void
}) {
  const t = useTranslations('replay')
  const { moment, atMs, selected } = props
  const [search, setSearch] = useState('')
  const [only, setOnly] = useState<ReplayState | null>(null)
  const wanted = search.trim().toLocaleLowerCase()
  const vans = (moment?.vans ?? []).filter(
    ({ van, name, place, state }) =>
      (only === null || only === state) &&
      (wanted === '' || [van, name, place ?? ''].some((text) => text.toLocaleLowerCase().includes(wanted))),
  )
  return (
    <section className={`${card.card} ${styles.listCard}`} aria-labelledby="list-title" data-vans={moment?.vans.length ?? 0}>
      <header className={card.head}>
        <h2 id="list-title">{t('vans')}</h2>
        <span className={card.aside}>{vans.length}</span>
        {moment !== null && (
          <FileLinks
            what={t('vans')}
            links={[
              { format: 'CSV', from: () => csvFile(fileName('fleet', fileStamp(atMs)), momentTable({ ...moment, vans }, atMs)) },
              { format: 'GeoJSON', from: () => geoJsonFile(fileName('fleet', fileStamp(atMs)), momentTable({ ...moment, vans }, atMs)) },
            ]}
          />
        )}
      </header>
      <div className={styles.filters}>
        {STATES.filter((state) => state !== 'unknown' || (moment?.counts.unknown ?? 0) > 0).map((state) => (
          <button
            key={state}
            type="button"
            aria-pressed={only === state}
            data-state={state}
            onClick={() => setOnly(only === state ? null : state)}
          >
            {t(`state.${state}`)} <b>{moment?.counts[state] ?? '–'}</b>
          </button>
        ))}
        <label>
          <span className="visually-hidden">{t('search')}</span>
          <input type="search" value={search} placeholder={t('search')} onChange={(event) => setSearch(event.target.value)} />
        </label>
      </div>
      <ol className={styles.list}>
        {vans.slice(0, SHOWN).map((van) => (
          <Row key={van.van} van={van} atMs={atMs} isSelected={van.van === selected} onSelect={props.onSelect} />
        ))}
      </ol>
      {moment !== null && vans.length === 0 && <p className={styles.none}>{t('none')}</p>}
      {vans.length > SHOWN && <p className={styles.none}>{t('more', { count: vans.length - SHOWN })}</p>}
    </section>
  )
}

function Row(props: {
  readonly van: ReplayVan
  readonly atMs: number
  readonly isSelected: boolean
  readonly onSelect: (van: string | null) => void
}) {
  const t = useTranslations('replay')
  const format = useTimes()
  const { van, atMs, isSelected } = props
  const row = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isSelected) row.current?.scrollIntoView({ block: 'nearest' })
  }, [isSelected])
  const isOld = van.state === 'silent' || van.state === 'unknown'
  return (
    <li ref={row} data-van={van.van} data-state={van.state}>
      <button type="button" aria-pressed={isSelected} onClick={() => props.onSelect(isSelected ? null : van.van)}>
        <StateIcon state={ICONS[van.state]} />
        <b>{van.name}</b>
        <span>{t(`state.${van.state}`)}</span>
        <small>
          {van.eventMs === null
            ? t('noDataHint')
            : [van.place, isOld ? t('since', { time: format.dateTime(van.eventMs, CLOCK), age: shortAge(atMs - van.eventMs) }) : null]
                .filter((part) => part !== null)
                .join(' · ')}
        </small>
      </button>
      {isSelected && van.eventMs !== null && (
        <a className={styles.day} href={addressOfVanPage({ van: van.van, day: madridDate(atMs), atMs: Math.floor(atMs / 1_000) * 1_000 })}>
          {t('day')}
        </a>
      )}
    </li>
  )
}
