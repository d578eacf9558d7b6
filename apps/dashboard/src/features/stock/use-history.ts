'use client'

import type { StockHistoryView } from '@km0/contracts/stock-panel'
import { type RefObject, useEffect, useState } from 'react'

const RENEW_EVERY_MS = 60_000

/** The last day of a product in a market, read when the element is on the screen and renewed every minute; null until it is known. */
export function useHistory(element: RefObject<Element | null>, product: string, market: string): StockHistoryView | null {
  const [history, setHistory] = useState<StockHistoryView | null>(null)
  useEffect(() => {
    const abort = new AbortController()
    let timer: ReturnType<typeof setInterval> | undefined
    const read = async () => {
      try {
        const query = new URLSearchParams({ product, market })
        const response = await fetch(`/api/stock/history?${query}`, { signal: abort.signal })
        if (response.ok) setHistory((await response.json()) as StockHistoryView)
      } catch {
        // The next minute brings another try.
      }
    }
    const observer = new IntersectionObserver((entries) => {
      const visible = entries.some((entry) => entry.isIntersecting)
      if (visible && timer === undefined) {
        void read()
        timer = setInterval(() => void read(), RENEW_EVERY_MS)
      }
      if (!visible) {
        clearInterval(timer)
        timer = undefined
      }
    })
    if (element.current !== null) observer.observe(element.current)
    return () => {
      abort.abort()
      clearInterval(timer)
      observer.disconnect()
    }
  }, [element, product, market])
  return history
}
