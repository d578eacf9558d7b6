'use client'

import { type LinkView, PERSON_ROLES, type UsersView, type UserView } from '@km0/contracts/sign-in'
import { useFormatter, useTranslations } from 'next-intl'
import { useState } from 'react'
import { postJson } from '../operator/post-json.ts'
import card from '../shell/card.module.css'
import form from '../shell/form.module.css'
import { FormDialog } from './form-dialog.tsx'
import { ScopeFields, scopeFrom } from './scope-fields.tsx'
import { type Secret, SecretDialog } from './secret-dialog.tsx'
import { useDates } from './use-dates.ts'
import styles from './users.module.css'

type Asked = { readonly kind: 'invite' } | { readonly kind: 'change' | 'revoke'; readonly user: UserView }

/** People: who they are, what they may do and see; invite, change, make a link, take access. */
export function PeopleCard({ view, onChanged }: { readonly view: UsersView; readonly onChanged: () => void }) {
  const t = useTranslations('users')
  const roles = useTranslations('session')
  const { date } = useDates()
  const format = useFormatter()
  const [asked, setAsked] = useState<Asked | null>(null)
  const [secret, setSecret] = useState<Secret | null>(null)
  const [failure, setFailure] = useState<string | null>(null)
  const close = () => setAsked(null)

  const show = (name: string, link: LinkView) =>
    setSecret({
      title: t('linkTitle', { name }),
      lead: t('linkLead', { date: date(link.expiresAtMs) }),
      text: window.location.origin + link.path,
    })
  const makeLink = async (user: UserView) => {
    const answer = await postJson<LinkView>('/api/users/link', { id: user.id })
    setFailure(answer.ok ? null : (answer.reason ?? roles('offline')))
    if (answer.ok) show(user.name, answer.value)
  }
  const restore = async (user: UserView) => {
    const answer = await postJson('/api/users/change', { id: user.id, revoked: false })
    setFailure(answer.ok ? null : (answer.reason ?? roles('offline')))
    onChanged()
  }
  const seen = ({ scope }: UserView) => {
    if (scope.kind === 'all') return t('everything')
    const names = [...scope.depots.map((id) => view.depots.find((depot) => depot.id === id)?.name ?? id), ...scope.markets]
    return names.length === 0 ? roles('nothing') : format.list(names)
  }
  return (
    <section className={card.card} aria-labelledby="people-title">
      <div className={card.head}>
        <h2 id="people-title">{t('people')}</h2>
        <button type="button" className={styles.add} onClick={() => setAsked({ kind: 'invite' })}>
          {t('invite')}
        </button>
      </div>
      {failure !== null && (
        <p className={form.failure} role="alert">
          {t('failed', { reason: failure })}
        </p>
      )}
      <ul className={styles.rows}>
        {view.users.map((user) => (
          <li key={user.id} className={styles.row} data-user={user.email} data-revoked={user.revokedAtMs !== null}>
            <div className={styles.who}>
              <b>{user.name}</b>
              <span>{user.email}</span>
            </div>
            <div className={styles.what}>
              <span>{roles(`role.${user.role}`)}</span>
              <small>{seen(user)}</small>
            </div>
            <div className={styles.when}>
              <span>
                {user.revokedAtMs !== null ? t('revoked', { date: date(user.revokedAtMs) }) : t('sessions', { count: user.sessions })}
              </span>
              <small>
                {user.lastSignInAtMs === null ? t('neverIn') : t('lastSeen', { date: date(user.lastSignInAtMs) })}
                {user.hasPassword && `, ${t('withPassword')}`}
              </small>
            </div>
            <div className={styles.actions}>
              {user.revokedAtMs === null ? (
                <>
                  <button type="button" aria-label={t('change', { name: user.name })} onClick={() => setAsked({ kind: 'change', user })}>
                    {t('changeShort')}
                  </button>
                  <button type="button" aria-label={t('link', { name: user.name })} onClick={() => void makeLink(user)}>
                    {t('linkShort')}
                  </button>
                  <button type="button" aria-label={t('revoke', { name: user.name })} onClick={() => setAsked({ kind: 'revoke', user })}>
                    {t('revokeShort')}
                  </button>
                </>
              ) : (
                <button type="button" aria-label={t('restore', { name: user.name })} onClick={() => void restore(user)}>
                  {t('restoreShort')}
                </button>
              )}
            </div>
          </li>
        ))}
      </ul>
      <FormDialog<{ readonly user: UserView; readonly link: LinkView }>
        open={asked?.kind === 'invite'}
        title={t('invite')}
        action={t('invite')}
        path="/api/users"
        body={(given) => ({ ...textsOf(given, 'name', 'email', 'role'), scope: scopeFrom(given) })}
        onDone={({ user, link }) => {
          onChanged()
          show(user.name, link)
        }}
        onClose={close}
      >
        <RightsFields view={view} user={null} />
      </FormDialog>
      {asked !== null && asked.kind !== 'invite' && (
        <FormDialog
          open
          title={t(asked.kind, { name: asked.user.name })}
          {...(asked.kind === 'revoke' ? { lead: t('confirmRevoke', { name: asked.user.name }) } : {})}
          action={asked.kind === 'change' ? t('save') : t('sure')}
          path="/api/users/change"
          body={(given) =>
            asked.kind === 'revoke'
              ? { id: asked.user.id, revoked: true }
              : { id: asked.user.id, ...textsOf(given, 'name', 'role'), scope: scopeFrom(given) }
          }
          onDone={onChanged}
          onClose={close}
        >
          {asked.kind === 'change' && <RightsFields view={view} user={asked.user} />}
        </FormDialog>
      )}
      <SecretDialog secret={secret} onClose={() => setSecret(null)} />
    </section>
  )
}

function RightsFields({ view, user }: { readonly view: UsersView; readonly user: UserView | null }) {
  const t = useTranslations('users')
  const roles = useTranslations('session')
  const [role, setRole] = useState<string>(user?.role ?? 'dispatcher')
  return (
    <>
      <label className={form.field} htmlFor="user-name">
        <span>{t('name')}</span>
        <input id="user-name" name="name" required maxLength={60} autoComplete="off" defaultValue={user?.name ?? ''} />
      </label>
      {user === null && (
        <label className={form.field} htmlFor="user-email">
          <span>{t('email')}</span>
          <input id="user-email" name="email" type="email" required maxLength={200} autoComplete="off" />
        </label>
      )}
      <label className={form.field} htmlFor="user-role">
        <span>{t('role')}</span>
        <select id="user-role" name="role" className={styles.select} value={role} onChange={(event) => setRole(event.currentTarget.value)}>
          {PERSON_ROLES.map((one) => (
            <option key={one} value={one}>
              {roles(`role.${one}`)}
            </option>
          ))}
        </select>
      </label>
      {role === 'administrator' ? (
        <p className={form.lead}>{t('administratorSees')}</p>
      ) : (
        <ScopeFields view={view} scope={user?.role === 'administrator' ? { kind: 'all' } : (user?.scope ?? { kind: 'all' })} />
      )}
    </>
  )
}

function textsOf(given: FormData, ...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, String(given.get(name) ?? '').trim()]))
}
