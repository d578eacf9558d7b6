'use client'

import type { StockNoticeView } from '@km0/contracts/stock-panel'
import { useTranslations } from 'next-intl'
import { useEffect, useRef, useState } from 'react'
import { CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import { newNotices } from './prepare-notices.ts'
import styles from './toasts.module.css'

const MEMORY = 'km0_stock_notices'
const SHOWN_MS = 15_000
const AT_ONCE = 4

/** Short news of stock, each once a browser: an episode has begun, its minimum has halved, the shelf is empty. */
export function StockToasts(props: { readonly notices: readonly StockNoticeView[] | null; readonly link: boolean }) {
  const t = useTranslations('stock')
  const format = useTimes()
  const [shown, setShown] = useState<readonly StockNoticeView[]>([])
  const [held, setHeld] = useState(false)
  const { notices } = props
  useEffect(() => {
    if (notices === null) return
    const { show, remember } = newNotices(notices, readMemory())
    writeMemory(remember)
    if (show.length > 0) setShown((before) => [...before, ...show])
  }, [notices])
  const oldest = shown[0]?.id
  useEffect(() => {
    if (oldest === undefined || held) return
    const timer = setTimeout(() => setShown((before) => before.filter(({ id }) => id !== oldest)), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [oldest, held])
  const region = useRef<HTMLElement>(null)
  return (
    <section
      ref={region}
      className={styles.toasts}
      aria-label={t('toasts')}
      aria-live="polite"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={(event) => setHeld(event.currentTarget.contains(event.relatedTarget))}
    >
      {shown.slice(0, AT_ONCE).map((notice) => (
        <div key={notice.id} className={styles.toast} data-reason={notice.reason} data-toast={notice.reason}>
          <span>
            <strong>{t(`notice.${notice.reason}`, { product: notice.product, market: notice.market, stock: notice.stock })}</strong>
            <time dateTime={new Date(notice.atMs).toISOString()}>{format.dateTime(notice.atMs, CLOCK)}</time>
            {props.link && <a href="/estoc">{t('toList')}</a>}
          </span>
          <button
            type="button"
            aria-label={t('closeToast', { product: notice.product })}
            onClick={() => setShown((before) => before.filter(({ id }) => id !== notice.id))}
          >
            <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
              <path d="M3 3l8 8M11 3l-8 8" />
            </svg>
          </button>
        </div>
      ))}
      {shown.length > AT_ONCE && (
        <button type="button" className={styles.more} onClick={() => setShown([])}>
          {t('moreToasts', { count: shown.length - AT_ONCE })}
        </button>
      )}
    </section>
  )
}

function readMemory(): readonly number[] | null {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(MEMORY) ?? 'null')
    return Array.isArray(value) ? value.filter((id): id is number => typeof id === 'number') : null
  } catch {
    return null
  }
}

function writeMemory(ids: readonly number[]): void {
  try {
    localStorage.setItem(MEMORY, JSON.stringify(ids))
  } catch {
    // A browser without storage is told again after a reload.
  }
}
