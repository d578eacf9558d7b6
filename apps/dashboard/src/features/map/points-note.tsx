import { useTranslations } from 'next-intl'
import { shortAge } from '../feed/durations.ts'
import type { Van } from '../van/prepare-fleet.ts'
import styles from './map-view.module.css'
import { countPoints } from './prepare-trail.ts'
import type { RecentPoints } from './use-map-lines.ts'

/** What the single points on the map are, and whether they could be read. */
export function PointsNote({ recent, van }: { readonly recent: RecentPoints; readonly van: Van | null }) {
  const t = useTranslations('map.points')
  const counts = countPoints(recent.points)
  const said = () => {
    if (van === null) return t('noVan')
    if (van.point === null) return t('empty')
    if (recent.line === 'loading') return t('loading')
    if (recent.line === 'failed') return t('failed')
    return recent.points.length === 0 ? t('empty') : null
  }
  const words = said()
  return (
    <div className={styles.points} role="status" data-line={recent.line}>
      {words !== null ? (
        <span>{words}</span>
      ) : (
        <>
          {(['accepted', 'late', 'refused'] as const).map((verdict) => (
            <span key={verdict} data-verdict={verdict}>
              <i aria-hidden="true" /> {t(verdict, { count: counts[verdict] })}
            </span>
          ))}
          {counts.nowhere > 0 && <span>{t('nowhere', { count: counts.nowhere })}</span>}
          {recent.truncated && <span>{t('truncated')}</span>}
          {recent.line === 'stale' && <strong>{t('stale', { age: shortAge(recent.ageMs) })}</strong>}
        </>
      )}
    </div>
  )
}
