'use client'

import dynamic from 'next/dynamic'
import { type ReactNode, useMemo } from 'react'
import { DistanceCard } from '../distances/distance-card.tsx'
import { prepareDistances } from '../distances/prepare-distances.ts'
import { FeedBanner } from '../feed/feed-banner.tsx'
import { prepareFeed } from '../feed/prepare-feed.ts'
import { useLive } from '../feed/use-live.ts'
import { usePlatformNow } from '../feed/use-platform-now.ts'
import type { OwnMap } from '../map/own-map.ts'
import { NoSignalCard } from '../no-signal/no-signal-card.tsx'
import { prepareNoSignal } from '../no-signal/prepare-no-signal.ts'
import { prepareOutages } from '../no-signal/prepare-outages.ts'
import { VanMute } from '../no-signal/van-mute.tsx'
import { useOperator } from '../operator/use-operator.ts'
import { VanSearch } from '../search/van-search.tsx'
import { PanelToasts } from '../stock/panel-toasts.tsx'
import { prepareFleet } from '../van/prepare-fleet.ts'
import { VanCard } from '../van/van-card.tsx'
import { Header } from './header.tsx'
import styles from './panel-app.module.css'
import type { Place } from './place.ts'
import { prepareCounters } from './prepare-counters.ts'
import { SkipLink } from './skip-link.tsx'
import type { Theme } from './theme.ts'
import { usePlace } from './use-place.ts'
import { useTheme } from './use-theme.ts'
import { ViewTabs } from './view-tabs.tsx'

const MapView = dynamic(() => import('../map/map-view.tsx'), { ssr: false })

export interface PanelAppProps {
  readonly brand: ReactNode
  readonly theme: Theme
  readonly ownMap: OwnMap
  readonly initialPlace: Place
}

/** The panel: one live model, prepared once a second, drawn by features that know nothing of each other. */
export function PanelApp(props: PanelAppProps) {
  const { model, connection, batches } = useLive()
  const nowMs = usePlatformNow(model)
  const state = usePlace(props.initialPlace)
  const { place, go } = state
  const operator = useOperator()
  const [theme, switchTheme] = useTheme(props.theme)

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
  const silences = useMemo(
    () => prepareNoSignal(fleet, model?.acknowledgements ?? [], nearMm, model?.dispatch, nowMs),
    [fleet, model?.acknowledgements, nearMm, model?.dispatch, nowMs],
  )
  const partitionCount = model?.feed.partitions.length ?? 0
  const outages = useMemo(() => prepareOutages(model?.outages ?? [], partitionCount, nowMs), [model?.outages, partitionCount, nowMs])
  const distances = useMemo(
    () => prepareDistances(fleet, model?.distances ?? new Map(), model?.dispatch),
    [fleet, model?.distances, model?.dispatch],
  )
  const selected = fleet.find((van) => van.van === place.van) ?? null

  // A van that is no longer looked at is not followed either.
  const select = (van: string | null) =>
    go(van === null ? { van, follow: false } : { van, view: 'map', follow: place.follow && van === place.van })
  const listStatus =
    model === null ? (connection === 'failed' ? 'error' : 'loading') : feed?.kind === 'live' || feed?.kind === 'partly' ? 'ready' : 'stale'

  return (
    <div className={styles.app} data-view={place.view}>
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
            state={state}
            batches={batches}
            theme={theme}
            own={props.ownMap}
            known={model !== null}
            dimmed={feed?.kind === 'stale' || feed?.kind === 'lost'}
            onSelect={select}
          />
          <div className={styles.overlays}>
            {(feed !== null || connection === 'failed') && <FeedBanner feed={feed} failed={model === null && connection === 'failed'} />}
            {place.van !== null && model !== null && (
              <VanCard
                name={place.van}
                van={selected}
                distance={distances.rows.find((row) => row.key === place.van) ?? null}
                onClose={() => select(null)}
                onShow={state.refocus}
                followed={place.follow}
                onFollow={(follow) => go({ follow })}
                actions={selected !== null && <VanMute van={selected} nowMs={nowMs} />}
              />
            )}
          </div>
        </div>
        <div className={styles.rail} id="lists" tabIndex={-1}>
          <div className={styles.noSignal}>
            <NoSignalCard
              list={silences}
              fleet={fleet}
              status={listStatus}
              sinceMs={feed?.sinceMs ?? null}
              outages={outages}
              nowMs={nowMs}
              selected={place.van}
              onSelect={select}
            />
          </div>
          <div className={styles.distances}>
            <DistanceCard table={distances} status={listStatus} sinceMs={feed?.sinceMs ?? null} selected={place.van} onSelect={select} />
          </div>
        </div>
      </main>
      <PanelToasts />
      <ViewTabs view={place.view} noSignal={silences.count} onView={(view) => go({ view })} />
    </div>
  )
}
