'use client'

import type { HandOverView } from '@km0/contracts/dispatch'
import { useTranslations } from 'next-intl'
import { type ReactNode, useMemo, useState } from 'react'
import { FileLinks } from '../data-out/file-links.tsx'
import { csvFile, fileName, fileStamp } from '../data-out/table-files.ts'
import { prepareFeed } from '../feed/prepare-feed.ts'
import { CLOCK, DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useLive } from '../feed/use-live.ts'
import { usePlatformNow } from '../feed/use-platform-now.ts'
import { useTimes } from '../feed/use-times.ts'
import { prepareNoSignal } from '../no-signal/prepare-no-signal.ts'
import { useOperator } from '../operator/use-operator.ts'
import card from '../shell/card.module.css'
import { EmptyState, LoadingRows, PolledState } from '../shell/list-state.tsx'
import { PlainHeader } from '../shell/plain-header.tsx'
import { SkipLink } from '../shell/skip-link.tsx'
import type { Theme } from '../shell/theme.ts'
import { usePolled } from '../shell/use-polled.ts'
import { useTheme } from '../shell/use-theme.ts'
import { prepareFleet } from '../van/prepare-fleet.ts'
import { ChangeLine } from './change-line.tsx'
import styles from './hand-over.module.css'
import { OpenSilences } from './open-silences.tsx'
import { changesTable } from './prepare-files.ts'
import { CHANGE_KINDS, countChanges, keyOf } from './prepare-hand-over.ts'

const EVERY_MS = 10_000

/** For who takes over: the silences that last, with their notes, and what changed since. */
export function HandOverApp(props: { readonly brand: ReactNode; readonly theme: Theme; readonly since: string | null }) {
  const t = useTranslations('handOver')
  const format = useTimes()
  const operator = useOperator()
  const [theme, switchTheme] = useTheme(props.theme)
  const [since, setSince] = useState(props.since)
  const polled = usePolled<HandOverView>(`/api/handover${since === null ? '' : `?from=${since}`}`, () => EVERY_MS)
  const { model, connection } = useLive()
  const nowMs = usePlatformNow(model)
  const silences = useMemo(() => {
    if (model === null) return null
    const status = prepareFeed({
      ...{ feed: model.feed, points: model.points, connected: connection === 'connected' },
      ...{ serverNowMs: model.serverNowMs, nowMs },
    })
    const fleet = prepareFleet(model, status, nowMs)
    const names = new Map(fleet.map((van) => [van.van, van.name]))
    const depots = new Map([...model.depots.values()].map((depot) => [depot.id, depot.name]))
    return { list: prepareNoSignal(fleet, model.acknowledgements, 0, model.dispatch, nowMs), names, depots, status }
  }, [model, connection, nowMs])
  const choose = (text: string) => {
    const next = text === '' ? null : text
    window.history.replaceState(null, '', next === null ? window.location.pathname : `?from=${next}`)
    setSince(next)
  }
  const { view } = polled
  const counts = view === null ? null : countChanges(view)
  const nameOf = (van: string) => silences?.names.get(van) ?? van
  const depotOf = (depot: string) => silences?.depots.get(depot) ?? depot
  return (
    <div className={styles.app}>
      <SkipLink target="lists" />
      <PlainHeader brand={props.brand} page="handOver" line={polled.line} theme={theme} onSwitchTheme={switchTheme} operator={operator} />
      <main className={styles.main} id="lists" tabIndex={-1} aria-label={t('title')}>
        <header className={styles.bar}>
          <h1>{t('title')}</h1>
          <label>
            {t('since')}{' '}
            <input
              type="time"
              value={since ?? (view === null ? '' : format.dateTime(view.fromMs, CLOCK).slice(0, 5))}
              onChange={(event) => choose(event.target.value)}
            />
          </label>
          {view !== null && (
            <span className={styles.span}>
              {t('span', { from: format.dateTime(view.fromMs, DAY_AND_CLOCK), to: format.dateTime(view.nowMs, DAY_AND_CLOCK) })}
            </span>
          )}
          {view !== null && (
            <FileLinks
              what={t('changes')}
              links={[{ format: 'CSV', from: () => csvFile(fileName('hand-over', fileStamp(view.nowMs)), changesTable(view)) }]}
            />
          )}
          <button type="button" className={styles.print} onClick={() => window.print()}>
            {t('print')}
          </button>
        </header>
        <section className={card.card} aria-labelledby="open-title">
          <header className={card.head}>
            <h2 id="open-title">{t('open')}</h2>
            {silences !== null && <b data-open={silences.list.rows.length}>{silences.list.rows.length}</b>}
            {silences !== null && silences.status.kind !== 'live' && (
              <span className={card.aside} data-stale="true">
                {t('openStale')}
              </span>
            )}
          </header>
          {silences === null && connection !== 'failed' && <LoadingRows rows={3} />}
          {silences === null && connection === 'failed' && <EmptyState kind="error" title={t('openFailed')} hint={t('openFailedHint')} />}
          {silences !== null && <OpenSilences list={silences.list} depotOf={depotOf} nameOf={nameOf} />}
        </section>
        <section className={card.card} aria-labelledby="changes-title">
          <header className={card.head}>
            <h2 id="changes-title">{t('changes')}</h2>
            {counts !== null && (
              <span className={card.aside}>
                {CHANGE_KINDS.filter((kind) => counts.has(kind))
                  .map((kind) => t(`counts.${kind}`, { count: counts.get(kind) ?? 0 }))
                  .join(' · ')}
              </span>
            )}
          </header>
          <PolledState polled={polled} rows={6} />
          {view !== null && view.changes.length === 0 && <EmptyState kind="ok" title={t('nothing')} hint={t('nothingHint')} />}
          {view !== null && view.changes.length > 0 && (
            <ol className={styles.changes}>
              {view.changes.map((change) => (
                <ChangeLine key={keyOf(change)} change={change} nowMs={view.nowMs} nameOf={nameOf} depotOf={depotOf} />
              ))}
            </ol>
          )}
          {view?.more === true && <p className={styles.more}>{t('more')}</p>}
        </section>
      </main>
    </div>
  )
}
