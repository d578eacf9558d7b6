import styles from './operations.module.css'
import type { Mark } from './prepare-shown.ts'

const SHAPES: Readonly<Record<Mark, string>> = {
  ok: 'M4 9.5l3.5 3.5L14 5.500',
  watch: 'M9 5v5M9 12.600v.1M9 2l7.500 13.500h-15z',
  wrong: 'M5 5l8 8M13 5l-8 8',
}

/** A shape for each state, so that colour is not alone. Words stand beside it. */
export function MarkIcon({ mark }: { readonly mark: Mark }) {
  return (
    <svg className={styles.mark} data-mark={mark} width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
      <path d={SHAPES[mark]} />
    </svg>
  )
}
