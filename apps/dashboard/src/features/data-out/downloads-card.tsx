'use client'

import { useTranslations } from 'next-intl'
import { useId, useState } from 'react'
import card from '../shell/card.module.css'
import styles from './data-out.module.css'
import { EXPORTS, exportPath } from './prepare-subscription.ts'

/** Files of what is on the screen now. */
export function DownloadsCard() {
  const t = useTranslations('dataOut')
  const [bom, setBom] = useState(false)
  const [depot, setDepot] = useState('')
  const id = useId()
  return (
    <section className={card.card} aria-labelledby="downloads">
      <header className={card.head}>
        <h2 id="downloads">{t('download')}</h2>
      </header>
      <div className={styles.body}>
        <p className={styles.quiet}>{t('downloadHint')}</p>
        <ul className={styles.downloads}>
          {EXPORTS.map(({ set, formats, byDepot }) => (
            <li key={set}>
              <span>{t(`set.${set}`)}</span>
              {formats.map((format) => {
                const name = format === 'csv' ? 'CSV' : 'GeoJSON'
                return (
                  <a
                    key={format}
                    href={exportPath(set, format, { depot: byDepot ? depot : '', bom: bom && format === 'csv' ? '1' : '' })}
                    aria-label={t('formatOf', { set: t(`set.${set}`), format: name })}
                  >
                    {name}
                  </a>
                )
              })}
            </li>
          ))}
        </ul>
        <div className={styles.options}>
          <label htmlFor={`${id}-depot`}>{t('depot')}</label>
          <input id={`${id}-depot`} value={depot} placeholder={t('allDepots')} onChange={(event) => setDepot(event.target.value.trim())} />
          <label className={styles.check}>
            <input type="checkbox" checked={bom} onChange={(event) => setBom(event.target.checked)} />
            {t('bom')}
          </label>
        </div>
      </div>
    </section>
  )
}
