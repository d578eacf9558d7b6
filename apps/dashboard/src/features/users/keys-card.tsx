'use client'

import type { AccessKeyView, NewKeyView, UsersView } from '@km0/contracts/sign-in'
import { useFormatter, useTranslations } from 'next-intl'
import { useState } from 'react'
import card from '../shell/card.module.css'
import form from '../shell/form.module.css'
import { FormDialog } from './form-dialog.tsx'
import { ScopeFields, scopeFrom } from './scope-fields.tsx'
import { type Secret, SecretDialog } from './secret-dialog.tsx'
import { useDates } from './use-dates.ts'
import styles from './users.module.css'

/** Links of wall screens, or tokens of programs: both only read. Make one, which is shown once; revoke one. */
export function KeysCard({
  kind,
  view,
  onChanged,
}: {
  readonly kind: AccessKeyView['kind']
  readonly view: UsersView
  readonly onChanged: () => void
}) {
  const t = useTranslations('users')
  const roles = useTranslations('session')
  const { date } = useDates()
  const format = useFormatter()
  const [adding, setAdding] = useState(false)
  const [revoking, setRevoking] = useState<AccessKeyView | null>(null)
  const [secret, setSecret] = useState<Secret | null>(null)
  const isWall = kind === 'wall'
  const keys = view.keys.filter((key) => key.kind === kind)
  const seen = ({ scope }: AccessKeyView) => {
    if (scope.kind === 'all') return t('everything')
    const names = [...scope.depots.map((id) => view.depots.find((depot) => depot.id === id)?.name ?? id), ...scope.markets]
    return names.length === 0 ? roles('nothing') : format.list(names)
  }
  return (
    <section className={card.card} aria-labelledby={`${kind}-title`}>
      <div className={card.head}>
        <h2 id={`${kind}-title`}>{t(isWall ? 'walls' : 'tokens')}</h2>
        <button type="button" className={styles.add} onClick={() => setAdding(true)}>
          {t(isWall ? 'newWall' : 'newToken')}
        </button>
      </div>
      {keys.length === 0 && <p className={styles.none}>{t('none')}</p>}
      <ul className={styles.rows}>
        {keys.map((key) => (
          <li key={key.id} className={styles.row} data-key={key.name} data-revoked={key.revokedAtMs !== null}>
            <div className={styles.who}>
              <b>{key.name}</b>
              <span>{key.hint}…</span>
            </div>
            <div className={styles.what}>
              <span>{key.masked ? t('seenMasked', { what: seen(key) }) : seen(key)}</span>
              <small>{t('made', { name: key.createdBy, date: date(key.createdAtMs) })}</small>
            </div>
            <div className={styles.when}>
              <span>{key.revokedAtMs !== null && t('revoked', { date: date(key.revokedAtMs) })}</span>
              <small>{key.lastUsedAtMs === null ? t('unused') : t('last', { date: date(key.lastUsedAtMs) })}</small>
            </div>
            <div className={styles.actions}>
              {key.revokedAtMs === null && (
                <button type="button" aria-label={t('revoke', { name: key.name })} onClick={() => setRevoking(key)}>
                  {t('revokeShort')}
                </button>
              )}
            </div>
          </li>
        ))}
      </ul>
      <FormDialog<NewKeyView>
        open={adding}
        title={t(isWall ? 'newWall' : 'newToken')}
        action={t(isWall ? 'newWall' : 'newToken')}
        path="/api/keys"
        body={(given) => ({
          kind,
          name: String(given.get('name') ?? '').trim(),
          scope: scopeFrom(given),
          masked: given.get('masked') === 'on',
        })}
        onDone={({ key, secret: text }) => {
          onChanged()
          setSecret({
            title: t(isWall ? 'wallTitle' : 'tokenTitle', { name: key.name }),
            lead: t(isWall ? 'wallLead' : 'tokenLead'),
            text: isWall ? `${window.location.origin}/paret?clau=${text}` : text,
          })
        }}
        onClose={() => setAdding(false)}
      >
        <label className={form.field} htmlFor={`${kind}-name`}>
          <span>{t('name')}</span>
          <input id={`${kind}-name`} name="name" required maxLength={60} autoComplete="off" />
        </label>
        <ScopeFields view={view} scope={{ kind: 'all' }} />
        <label className={styles.check} htmlFor={`${kind}-masked`}>
          <input id={`${kind}-masked`} name="masked" type="checkbox" />
          <span>{t('masked')}</span>
        </label>
      </FormDialog>
      <FormDialog
        open={revoking !== null}
        title={t('revoke', { name: revoking?.name ?? '' })}
        lead={t('confirmKey', { name: revoking?.name ?? '' })}
        action={t('sure')}
        path="/api/keys/revoke"
        body={() => ({ id: revoking?.id })}
        onDone={onChanged}
        onClose={() => setRevoking(null)}
      />
      <SecretDialog secret={secret} onClose={() => setSecret(null)} />
    </section>
  )
}
