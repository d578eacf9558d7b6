'use client'

import { useEffect, useState } from 'react'
import { type PanelModel, platformNowMs } from './panel-model.ts'

/**
 * "Now" of the platform, renewed at each of its seconds. Computed from the clocks each time, so a tab that slept is right when it wakes.
 */
export function usePlatformNow(model: PanelModel | null): number {
  const [browserNowMs, setBrowserNowMs] = useState(() => Date.now())
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>
    const tick = () => {
      const nowMs = Date.now()
      setBrowserNowMs(nowMs)
      const platformMs = model === null ? nowMs : platformNowMs(model, nowMs)
      timer = setTimeout(tick, model?.clock === 'play' ? 1_000 : 1_000 - (platformMs % 1_000) + 5)
    }
    tick()
    document.addEventListener('visibilitychange', tick)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', tick)
    }
  }, [model])
  return model === null ? browserNowMs : platformNowMs(model, Math.max(browserNowMs, model.receivedMs))
}
