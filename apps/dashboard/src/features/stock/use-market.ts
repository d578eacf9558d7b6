'use client'

import { useEffect, useState } from 'react'

/** The market that is shown, null for all. It stands in the address, so a link and a reload keep it. */
export function useMarket(initial: string | null): readonly [string | null, (market: string | null) => void] {
  const [market, setMarket] = useState(initial)
  useEffect(() => {
    const address = new URL(window.location.href)
    if (market === null) address.searchParams.delete('mercat')
    else address.searchParams.set('mercat', market)
    if (address.href !== window.location.href) window.history.replaceState(null, '', address)
  }, [market])
  return [market, setMarket]
}
