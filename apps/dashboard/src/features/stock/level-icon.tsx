import type { EpisodeLevel } from './prepare-stock.ts'
import styles from './stock.module.css'

const SHAPES: Record<EpisodeLevel, string> = {
  // An empty shelf, a shelf that is nearly so, a full one.
  empty: 'M2.500 3v14M17.500 3v14M2.500 16h15M7 7l6 6M13 7l-6 6',
  low: 'M2.500 3v14M17.500 3v14M2.500 16h15M6 12.500h4v3.500H6z',
  ended: 'M2.500 3v14M17.500 3v14M2.500 16h15M5.500 9.500h4v6.500h-4zM10.500 7.500h4v8.500h-4z',
}

/** State of an episode by shape and colour. The text beside it says the same. */
export function LevelIcon({ level }: { readonly level: EpisodeLevel }) {
  return (
    <svg className={styles.levelIcon} data-level={level} width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
      <path d={SHAPES[level]} />
    </svg>
  )
}
