'use client'

import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { Dialog } from '../shell/dialog.tsx'
import form from '../shell/form.module.css'
import styles from './users.module.css'

export interface Secret {
  readonly title: string
  readonly lead: string
  readonly text: string
}

/** A link or a token, which is shown this once. */
export function SecretDialog({ secret, onClose }: { readonly secret: Secret | null; readonly onClose: () => void }) {
  const t = useTranslations('users')
  const [copied, setCopied] = useState<string | null>(null)
  const copy = async (text: string) => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(text)
    } catch {
      // Without https there may be no clipboard: the text is there to be marked.
    }
  }
  return (
    <Dialog open={secret !== null} title={secret?.title ?? ''} onClose={onClose}>
      {secret !== null && (
        <div className={form.form}>
          <p className={form.lead}>{secret.lead}</p>
          <code className={styles.secret} data-secret>
            {secret.text}
          </code>
          <div className={form.actions}>
            <button type="button" className={form.quiet} onClick={() => void copy(secret.text)}>
              <span role="status">{t(copied === secret.text ? 'copied' : 'copy')}</span>
            </button>
            <button type="button" className={form.primary} onClick={onClose}>
              {t('done')}
            </button>
          </div>
        </div>
      )}
    </Dialog>
  )
}
