'use client'

import type { AuditPage } from '@km0/contracts/sign-in'
import { useTranslations } from 'next-intl'
import { type FormEvent, useState } from 'react'
import card from '../shell/card.module.css'
import { EmptyState, LoadingRows } from '../shell/list-state.tsx'
import { usePolled } from '../shell/use-polled.ts'
import { useDates } from './use-dates.ts'
import styles from './users.module.css'

const EVERY_MS = 15_000

/** Who did what, when and from where: newest first, page by page, by name and by action. */
export function AuditCard() {
  const t = useTranslations()
  const { date } = useDates()
  const [asked, setAsked] = useState<{ readonly actor: string; readonly action: string; readonly before: number | null }>({
    actor: '',
    action: '',
    before: null,
  })
  const query = new URLSearchParams()
  if (asked.actor !== '') query.set('actor', asked.actor)
  if (asked.action !== '') query.set('action', asked.action)
  if (asked.before !== null) query.set('before', String(asked.before))
  const { view, line, reason } = usePolled<AuditPage>(`/api/audit?${query}`, () => EVERY_MS)
  const search = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    setAsked({ actor: String(given.get('actor') ?? '').trim(), action: String(given.get('action') ?? ''), before: null })
  }
  /** What the list itself says is in words of ours; the rest is what somebody has given. */
  const detailText = (detail: string) => (t.has(`users.detailOf.${detail}`) ? t(`users.detailOf.${detail}`) : detail)
  const actionText = (action: string) => (t.has(`users.action.${action}`) ? t(`users.action.${action}`) : action)
  return (
    <section className={card.card} aria-labelledby="audit-title">
      <div className={card.head}>
        <h2 id="audit-title">{t('users.audit')}</h2>
        <form className={styles.filter} onSubmit={search}>
          <label htmlFor="audit-actor">
            <span>{t('users.filterWho')}</span>
            <input
              id="audit-actor"
              name="actor"
              defaultValue=""
              maxLength={60}
              onBlur={(event) => event.currentTarget.form?.requestSubmit()}
            />
          </label>
          <label htmlFor="audit-action">
            <span>{t('users.filterWhat')}</span>
            <select
              id="audit-action"
              name="action"
              className={styles.select}
              onChange={(event) => event.currentTarget.form?.requestSubmit()}
            >
              <option value="">{t('users.allActions')}</option>
              {(view?.actions ?? []).map((action) => (
                <option key={action} value={action}>
                  {actionText(action)}
                </option>
              ))}
            </select>
          </label>
        </form>
      </div>
      {view === null &&
        (line === 'failed' ? (
          <EmptyState kind="error" title={t('error.title')} hint={reason ?? t('error.hint')} />
        ) : (
          <LoadingRows rows={4} />
        ))}
      {view?.entries.length === 0 && <p className={styles.none}>{t('users.noEntries')}</p>}
      {view !== null && view.entries.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled with the keyboard
        <section className={styles.table} aria-labelledby="audit-title" tabIndex={0}>
          <table>
            <thead>
              <tr>
                {(['when', 'who', 'what', 'detail', 'from'] as const).map((name) => (
                  <th key={name} scope="col">
                    {t(`users.${name}`)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {view.entries.map((entry) => (
                <tr key={entry.id} data-action={entry.action}>
                  <td>{date(entry.atMs)}</td>
                  <td>{entry.actorName ?? t('users.anybody')}</td>
                  <td>{actionText(entry.action)}</td>
                  <td className={styles.detail}>{detailText(entry.detail)}</td>
                  <td>{entry.address}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {view !== null && (asked.before !== null || view.next !== null) && (
        <div className={styles.pages}>
          {asked.before !== null && (
            <button type="button" onClick={() => setAsked({ ...asked, before: null })}>
              {t('users.newest')}
            </button>
          )}
          {view.next !== null && (
            <button type="button" onClick={() => setAsked({ ...asked, before: view.next })}>
              {t('users.older')}
            </button>
          )}
        </div>
      )}
    </section>
  )
}
