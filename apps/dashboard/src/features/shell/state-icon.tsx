import type { VanState } from '../van/prepare-fleet.ts'
import styles from './state-icon.module.css'

/** The marker of a state, as on the map: arrow, square, cross. The word beside it tells the same to who cannot see it. */
export function StateIcon({
  state,
  doubtful = false,
  size = 16,
}: {
  readonly state: VanState
  readonly doubtful?: boolean
  readonly size?: number
}) {
  return (
    <svg
      className={styles.icon}
      data-state={state}
      data-doubtful={doubtful}
      width={size}
      height={size}
      viewBox="0 0 20 20"
      aria-hidden="true"
    >
      {SHAPES[state]}
    </svg>
  )
}

const CROSS = 'M7 7l6 6M13 7l-6 6'

const SHAPES: Record<VanState, React.ReactNode> = {
  moving: <path className={styles.body} d="M10 2.2l5.6 14.6-5.6-3.1-5.6 3.1z" />,
  stopped: <rect className={styles.body} x="4.6" y="4.6" width="10.8" height="10.8" rx="2.2" />,
  silent: (
    <>
      <circle className={styles.body} cx="10" cy="10" r="8" />
      <path className={styles.cross} d={CROSS} />
    </>
  ),
  provisional: (
    <>
      <circle className={styles.ring} cx="10" cy="10" r="7.2" />
      <path className={styles.mark} d={CROSS} />
    </>
  ),
  'not-seen': (
    <>
      <circle className={styles.ring} cx="10" cy="10" r="7.2" />
      <path className={styles.mark} d={CROSS} />
    </>
  ),
  unknown: (
    <>
      <circle className={styles.ring} cx="10" cy="10" r="7.2" />
      <path className={styles.mark} d="M7.700 8.100a2.300 2.300 0 1 1 3.400 2c-.800.450-1.100.900-1.100 1.700M10 14.300h.01" />
    </>
  ),
  away: <path className={styles.mark} d="M4.600 10.400a6 6 0 0 0 10.800 1.200 5.600 5.600 0 0 1-6.600-7.400 6 6 0 0 0-4.200 6.200z" />,
  unheard: <circle className={styles.ring} cx="10" cy="10" r="7.2" />,
}
