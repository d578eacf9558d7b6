'use client'

import type { BackfillOneView } from '@km0/contracts/backfill-panel'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import { DAY_AND_CLOCK } from '../feed/time-formats.ts'
import { useTimes } from '../feed/use-times.ts'
import card from '../shell/card.module.css'
import form from '../shell/form.module.css'
import styles from './backfills.module.css'
import { CommandDialog } from './command-dialog.tsx'

/** What of a version is served, and the two commands: publish it, or go back to what was served before. */
export function PublishCard({ view, onChanged }: { readonly view: BackfillOneView; readonly onChanged: () => void }) {
  const t = useTranslations('backfills')
  const format = useTimes()
  const [asking, setAsking] = useState<'publish' | 'rollback' | null>(null)
  const { backfill, publications } = view
  const undone = new Set(publications.flatMap(({ undoes }) => (undoes === null ? [] : [undoes])))
  const standing = publications.find(({ action, id }) => action === 'publish' && !undone.has(id))
  const isServed = backfill.servedHours > 0
  return (
    <section className={card.card} aria-labelledby="publish-title" data-served={backfill.servedHours}>
      <header className={card.head}>
        <h2 id="publish-title">{t(isServed ? 'isServed' : 'notServed')}</h2>
        <span className={card.aside}>
          {t('servedShare', {
            share: format.number(backfill.hours === 0 ? 0 : backfill.servedHours / backfill.hours, { style: 'percent' }),
          })}
        </span>
      </header>
      <div className={styles.actions}>
        {standing !== undefined && (
          <button type="button" className={form.quiet} onClick={() => setAsking('rollback')}>
            {t('rollback')}
          </button>
        )}
        <button
          type="button"
          className={form.primary}
          disabled={backfill.servedHours === backfill.hours}
          onClick={() => setAsking('publish')}
        >
          {t('publish')}
        </button>
      </div>
      {publications.length > 0 && (
        <ol className={styles.publications}>
          {publications.map((publication) => (
            <li key={publication.id} data-action={publication.action}>
              <b>{t(`did.${publication.action}`)}</b> {t('movedHours', { count: publication.hours })} · {publication.actor.name},{' '}
              {format.dateTime(publication.atMs, DAY_AND_CLOCK)}
              {publication.reason !== '' && ` — ${publication.reason}`}
            </li>
          ))}
        </ol>
      )}
      <CommandDialog
        open={asking === 'publish'}
        title={t('publishTitle', { version: backfill.id })}
        lead={t('publishLead')}
        action={t('publish')}
        path="/api/backfills/publish"
        body={(reason) => ({ id: backfill.id, reason })}
        onDone={onChanged}
        onClose={() => setAsking(null)}
      />
      <CommandDialog
        open={asking === 'rollback'}
        title={t('rollbackTitle', { version: backfill.id })}
        lead={t('rollbackLead')}
        action={t('rollback')}
        path="/api/backfills/rollback"
        body={(reason) => ({ publication: standing?.id ?? 0, reason })}
        onDone={onChanged}
        onClose={() => setAsking(null)}
      />
    </section>
  )
}
