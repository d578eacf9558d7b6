'use client'

import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { useMay } from '../sign-in/use-session.ts'
import type { Van } from '../van/prepare-fleet.ts'
import styles from './dispatch-lines.module.css'
import { MuteDialog } from './mute-dialog.tsx'
import { MuteItem } from './muted-line.tsx'

/** In the card of a van, silent or not: mute it or its depot beforehand, or see who has, until when, and lift it. */
export function VanMute({ van, nowMs }: { readonly van: Van; readonly nowMs: number }) {
  const t = useTranslations('noSignal')
  const may = useMay('dispatcher')
  const [muting, setMuting] = useState<Van | null>(null)
  if (van.mute !== null) {
    return (
      <div className={styles.muted}>
        <ul>
          <MuteItem mute={van.mute} fleet={[van]} nowMs={nowMs} />
        </ul>
      </div>
    )
  }
  if (!may) return null
  return (
    <>
      <button type="button" className={styles.lift} title={t('muteHint')} onClick={() => setMuting(van)}>
        {t('muteVan', { van: van.name })}
      </button>
      <MuteDialog van={muting} nowMs={nowMs} onClose={() => setMuting(null)} />
    </>
  )
}
