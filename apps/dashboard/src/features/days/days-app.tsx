'use client'

import type { DaysView } from '@km0/contracts/days-panel'
import { useTranslations } from 'next-intl'
import { type ReactNode, useMemo, useState } from 'react'
import { useOperator } from '../operator/use-operator.ts'
import card from '../shell/card.module.css'
import { PolledState } from '../shell/list-state.tsx'
import { PlainHeader } from '../shell/plain-header.tsx'
import { SkipLink } from '../shell/skip-link.tsx'
import type { Theme } from '../shell/theme.ts'
import { usePolled } from '../shell/use-polled.ts'
import { useTheme } from '../shell/use-theme.ts'
import { DayCard } from './day-card.tsx'
import styles from './days.module.css'
import { DaysBar } from './days-bar.tsx'
import type { DaysPlace } from './days-place.ts'
import { DaysTable } from './days-table.tsx'
import { prepareDays, type Sorting } from './prepare-days.ts'
import { useDaysPlace } from './use-days-place.ts'

const EVERY_MS = 30_000

/** Distances of vans by day, as they are served; a cell explains itself. */
export function DaysApp(props: { readonly brand: ReactNode; readonly theme: Theme; readonly place: DaysPlace }) {
  const t = useTranslations()
  const operator = useOperator()
  const [theme, switchTheme] = useTheme(props.theme)
  const [place, setPlace] = useDaysPlace(props.place)
  const query = place.last === null ? '' : `?last=${place.last}`
  const live = usePolled<DaysView>(`/api/days${query}`, () => EVERY_MS)
  const [search, setSearch] = useState('')
  const [sorting, setSorting] = useState<Sorting>({ by: 'van', descending: false })
  const table = useMemo(() => (live.view === null ? null : prepareDays(live.view, search, sorting)), [live.view, search, sorting])
  return (
    <div className={styles.app}>
      <SkipLink target="lists" />
      <PlainHeader brand={props.brand} page="days" line={live.line} theme={theme} onSwitchTheme={switchTheme} operator={operator} />
      <main className={styles.main} id="lists" tabIndex={-1} aria-label={t('days.title')} data-open={place.day !== null}>
        <section className={card.card} aria-labelledby="days-title">
          <DaysBar
            view={live.view}
            table={table}
            place={place}
            onPlace={setPlace}
            search={search}
            onSearch={setSearch}
            csv={`/api/days.csv${query}`}
          />
          <PolledState polled={live} rows={8} />
          {table !== null && live.view !== null && (
            <DaysTable
              view={live.view}
              table={table}
              sorting={sorting}
              onSorting={setSorting}
              chosen={place.day === null ? null : `${place.van}|${place.day}`}
              onChoose={(van, day) => setPlace({ ...place, van, day })}
            />
          )}
        </section>
        {place.day !== null && place.van !== null && (
          <DayCard
            key={`${place.van}|${place.day}`}
            van={place.van}
            day={place.day}
            onClose={() => setPlace({ ...place, van: null, day: null })}
          />
        )}
      </main>
    </div>
  )
}
