'use client'

import dynamic from 'next/dynamic'
import { type ReactNode, useMemo, useState } from 'react'
import { DistanceCard } from '../distances/distance-card.tsx'
import { prepareDistances } from '../distances/prepare-distances.ts'
import { FeedBanner } from '../feed/feed-banner.tsx'
import { prepareFeed } from '../feed/prepare-feed.ts'
import { useLive } from '../feed/use-live.ts'
import { usePlatformNow } from '../feed/use-platform-now.ts'
import { NoSignalCard } from '../no-signal/no-signal-card.tsx'
import { prepareNoSignal } from '../no-signal/prepare-no-signal.ts'
import { prepareOutages } from '../no-signal/prepare-outages.ts'
import { useOperator } from '../operator/use-operator.ts'
import { VanSearch } from '../search/van-search.tsx'
import { PanelToasts } from '../stock/panel-toasts.tsx'
import { prepareFleet } from '../van/prepare-fleet.ts'
import { useSelection } from '../van/use-selection.ts'
import { VanCard } from '../van/van-card.tsx'
import { Header } from './header.tsx'
import styles from './panel-app.module.css'
import { prepareCounters } from './prepare-counters.ts'
import { SkipLink } from './skip-link.tsx'
import type { Theme } from './theme.ts'
import { useTheme } from './use-theme.ts'
import { type View, ViewTabs } from './view-tabs.tsx'

const MapView = dynamic(() => import('../map/map-view.tsx'), { ssr: false })

export interface PanelAppProps {
  readonly brand: ReactNode
  readonly theme: Theme
  readonly mapStyleUrl: string | null
  readonly initialVan: string | null
}

/** The panel: one live model, prepared once a second, drawn by features that know nothing of each other. */
export function PanelApp(props: PanelAppProps) {
  const { model, connection } = useLive()
  const nowMs = usePlatformNow(model)
  const selection = useSelection(props.initialVan)
  const operator = useOperator()
  const [theme, switchTheme] = useTheme(props.theme)
  const [view, setView] = useState<View>('map')

  const feed = useMemo(
    () =>
      model === null
        ? null
        : prepareFeed({
            feed: model.feed,
            points: model.points,
            connected: connection === 'connected',
            serverNowMs: model.serverNowMs,
            nowMs,
          }),
    [model, connection, nowMs],
  )
  const fleet = useMemo(() => (model === null || feed === null ? [] : prepareFleet(model, feed, nowMs)), [model, feed, nowMs])
  const nearMm = model?.limits.nearDistanceMm ?? 0
  const silences = useMemo(() => prepareNoSignal(fleet, model?.acknowledgements ?? [], nearMm), [fleet, model?.acknowledgements, nearMm])
  const partitionCount = model?.feed.partitions.length ?? 0
  const outages = useMemo(() => prepareOutages(model?.outages ?? [], partitionCount, nowMs), [model?.outages, partitionCount, nowMs])
  const distances = useMemo(() => prepareDistances(fleet, model?.distances ?? new Map()), [fleet, model?.distances])
  const selected = fleet.find((van) => van.van === selection.van) ?? null

  const select = (van: string | null) => {
    selection.select(van)
    if (van !== null) setView('map')
  }
  const listStatus =
    model === null ? (connection === 'failed' ? 'error' : 'loading') : feed?.kind === 'live' || feed?.kind === 'partly' ? 'ready' : 'stale'

  return (
    <div className={styles.app} data-view={view}>
      <SkipLink target="lists" />
      <Header
        brand={props.brand}
        counters={model === null ? null : prepareCounters(fleet)}
        feed={feed}
        connection={connection}
        playing={model?.clock === 'play'}
        nowMs={nowMs}
        theme={theme}
        onSwitchTheme={switchTheme}
        operator={operator}
        search={<VanSearch fleet={fleet} onSelect={select} />}
      />
      <main className={styles.main}>
        <div className={styles.map}>
          <MapView
            fleet={fleet}
            selected={selected}
            focus={selection.focus}
            theme={theme}
            styleUrl={props.mapStyleUrl}
            dimmed={feed?.kind === 'stale' || feed?.kind === 'lost'}
            onSelect={select}
          />
          <div className={styles.overlays}>
            {(feed !== null || connection === 'failed') && <FeedBanner feed={feed} failed={model === null && connection === 'failed'} />}
            {selection.van !== null && model !== null && (
              <VanCard
                name={selection.van}
                van={selected}
                distance={distances.rows.find((row) => row.key === selection.van) ?? null}
                onClose={() => selection.select(null)}
                onShow={selection.refocus}
              />
            )}
          </div>
        </div>
        <div className={styles.rail} id="lists" tabIndex={-1}>
          <div className={styles.noSignal}>
            <NoSignalCard
              list={silences}
              status={listStatus}
              sinceMs={feed?.sinceMs ?? null}
              outages={outages}
              nowMs={nowMs}
              selected={selection.van}
              onSelect={select}
              operator={operator}
            />
          </div>
          <div className={styles.distances}>
            <DistanceCard
              table={distances}
              status={listStatus}
              sinceMs={feed?.sinceMs ?? null}
              selected={selection.van}
              onSelect={select}
            />
          </div>
        </div>
      </main>
      <PanelToasts />
      <ViewTabs view={view} noSignal={silences.count} onView={setView} />
    </div>
  )
}
