'use client'

import { useTranslations } from 'next-intl'
import { type FormEvent, useId, useRef, useState } from 'react'
import { Dialog } from '../shell/dialog.tsx'
import form from '../shell/form.module.css'
import { initials } from './initials.ts'
import styles from './operator-chip.module.css'
import type { OperatorHandle } from './use-operator.ts'

/** Who is at work here; a click changes the name. */
export function OperatorChip({ operator: handle }: { readonly operator: OperatorHandle }) {
  const t = useTranslations()
  const id = useId()
  const [open, setOpen] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const field = useRef<HTMLInputElement>(null)
  const { operator } = handle

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const answer = await handle.setName(field.current?.value ?? '')
    if (answer.ok) setOpen(false)
    else setFailure(answer.reason ?? t('acknowledge.offline'))
  }
  return (
    <>
      <button
        type="button"
        className={styles.chip}
        data-known={operator !== null}
        aria-label={operator === null ? t('operator.ask') : t('operator.change', { name: operator.name })}
        onClick={() => {
          setFailure(null)
          setOpen(true)
        }}
      >
        {operator === null ? (
          <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
            <circle cx="9" cy="6.4" r="3" />
            <path d="M3.2 15.6c.7-3 3-4.5 5.8-4.5s5.1 1.5 5.8 4.5" />
          </svg>
        ) : (
          <span aria-hidden="true">{initials(operator.name)}</span>
        )}
      </button>
      <Dialog open={open} title={t('operator.title')} onClose={() => setOpen(false)}>
        <form className={form.form} onSubmit={submit}>
          <p className={form.lead}>{t('operator.lead')}</p>
          <label className={form.field} htmlFor={id}>
            <span>{t('operator.name')}</span>
            <input ref={field} id={id} name="name" autoComplete="name" required maxLength={60} defaultValue={operator?.name ?? ''} />
          </label>
          {failure !== null && (
            <p className={form.failure} role="alert">
              {t('operator.failed', { reason: failure })}
            </p>
          )}
          <div className={form.actions}>
            <button type="button" className={form.quiet} onClick={() => setOpen(false)}>
              {t('operator.later')}
            </button>
            <button type="submit" className={form.primary}>
              {t('operator.save')}
            </button>
          </div>
        </form>
      </Dialog>
    </>
  )
}
