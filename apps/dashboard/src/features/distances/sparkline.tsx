import { memo } from 'react'
import styles from './distance.module.css'
import { prepareSparkline } from './prepare-sparkline.ts'

const WIDTH = 90
const HEIGHT = 24

export const Sparkline = memo(function Sparkline(props: {
  readonly values: readonly (number | null)[]
  readonly maximum: number
  readonly label: string
}) {
  const shape = prepareSparkline(props.values, props.maximum, WIDTH, HEIGHT)
  return (
    <svg className={styles.spark} width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={props.label}>
      <path className={styles.area} d={shape.area} />
      <path className={styles.line} d={shape.line} />
      {shape.dots.map(([x, y]) => (
        <circle key={x} className={styles.dot} cx={x} cy={y} r="1.2" />
      ))}
      {shape.last !== null && <circle className={styles.dot} cx={shape.last[0]} cy={shape.last[1]} r="1.9" />}
    </svg>
  )
})
