import { useTranslations } from 'next-intl'
import { memo, useRef } from 'react'
import { prepareHistory } from './prepare-history.ts'
import styles from './stock.module.css'
import { useHistory } from './use-history.ts'

const WIDTH = 132
const HEIGHT = 40

/** The last 24 hours of a product in a market. */
export const HistoryChart = memo(function HistoryChart(props: { readonly product: string; readonly market: string }) {
  const t = useTranslations('stock')
  const element = useRef<HTMLDivElement>(null)
  const history = useHistory(element, props.product, props.market)
  const shape = history === null ? null : prepareHistory(history, WIDTH, HEIGHT)
  return (
    <div ref={element} className={styles.chart}>
      {shape !== null && (
        <svg
          width={WIDTH}
          height={HEIGHT}
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={t('chart', { product: props.product, lowest: shape.lowest?.stock ?? '–', most: shape.maximum })}
        >
          {shape.thresholdY !== null && (
            <>
              <rect className={styles.chartLow} x="0" y={shape.thresholdY} width={WIDTH} height={Math.max(0, HEIGHT - shape.thresholdY)} />
              <line className={styles.chartThreshold} x1="0" x2={WIDTH} y1={shape.thresholdY} y2={shape.thresholdY} />
            </>
          )}
          <path className={styles.chartLine} d={shape.line} />
          <path className={styles.chartSince} d={shape.since} />
          {shape.lowest !== null && <circle className={styles.chartLowest} cx={shape.lowest.x} cy={shape.lowest.y} r="2.2" />}
        </svg>
      )}
    </div>
  )
})
