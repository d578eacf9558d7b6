'use client'

import { StockToasts } from './stock-toasts.tsx'
import { useStock } from './use-stock.ts'

/** News of stock on the page of the fleet. */
export function PanelToasts() {
  const { model } = useStock()
  return <StockToasts notices={model?.notices ?? null} link={true} />
}
