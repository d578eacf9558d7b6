'use client'

import { useTranslations } from 'next-intl'
import { useEffect, useState } from 'react'
import card from '../shell/card.module.css'
import form from '../shell/form.module.css'
import styles from './data-out.module.css'

/** How programs come in: the description, tokens, and the stream of events. */
export function ApiCard() {
  const t = useTranslations('dataOut')
  const [origin, setOrigin] = useState('')
  const [copied, setCopied] = useState(false)
  // The server that drew the page does not know under which name it is reached.
  useEffect(() => setOrigin(window.location.origin), [])
  const command = `curl -N -H "Authorization: Bearer TOKEN" ${origin}/api/events`
  return (
    <section className={card.card} aria-labelledby="api">
      <header className={card.head}>
        <h2 id="api">{t('api')}</h2>
      </header>
      <div className={styles.body}>
        <p className={styles.quiet}>{t('apiHint')}</p>
        <p className={styles.command}>
          <code>{command}</code>
          <button
            type="button"
            className={form.quiet}
            onClick={() => void navigator.clipboard?.writeText(command).then(() => setCopied(true))}
          >
            <span aria-live="polite">{copied ? t('copied') : t('copy')}</span>
          </button>
        </p>
        <p className={styles.links}>
          <a href="/api/openapi.json">{t('describe')}</a>
          <a href="/usuaris">{t('tokens')}</a>
        </p>
      </div>
    </section>
  )
}
