'use client'

import type { Scope } from '@km0/contracts/panel'
import type { UsersView } from '@km0/contracts/sign-in'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import styles from './users.module.css'

/** What somebody may see: all vans, or those of some depots and markets. The fields are `sees`, `depots` and `markets` of the form. */
export function ScopeFields({ view, scope }: { readonly view: Pick<UsersView, 'depots' | 'markets'>; readonly scope: Scope }) {
  const t = useTranslations('users')
  const [limited, setLimited] = useState(scope.kind === 'limited')
  const chosen: { readonly depots: readonly string[]; readonly markets: readonly string[] } =
    scope.kind === 'limited' ? scope : { depots: [], markets: [] }
  // What is chosen stays choosable, also when the register has it no more.
  const depots = [
    ...view.depots,
    ...chosen.depots.filter((id) => !view.depots.some((known) => known.id === id)).map((id) => ({ id, name: id })),
  ]
  const markets = [...new Set([...view.markets, ...chosen.markets])]
  const box = (name: string, value: string, label: string, checked: boolean) => (
    <label key={value} className={styles.check}>
      <input type="checkbox" name={name} value={value} defaultChecked={checked} />
      <span>{label}</span>
    </label>
  )
  return (
    <fieldset className={styles.scope}>
      <legend>{t('sees')}</legend>
      {[false, true].map((value) => (
        <label key={String(value)} className={styles.check}>
          <input
            type="radio"
            name="sees"
            value={value ? 'limited' : 'all'}
            defaultChecked={limited === value}
            onChange={() => setLimited(value)}
          />
          <span>{t(value ? 'limited' : 'everything')}</span>
        </label>
      ))}
      {limited && (
        <div className={styles.places}>
          <p>{t('depots')}</p>
          {depots.length === 0 ? (
            <small>{t('noPlaces')}</small>
          ) : (
            depots.map(({ id, name }) => box('depots', id, name, chosen.depots.includes(id)))
          )}
          <p>{t('markets')}</p>
          {markets.length === 0 ? (
            <small>{t('noPlaces')}</small>
          ) : (
            markets.map((market) => box('markets', market, market, chosen.markets.includes(market)))
          )}
        </div>
      )}
    </fieldset>
  )
}

/** The scope that a form with these fields tells. */
export function scopeFrom(form: FormData): Scope {
  if (form.get('sees') !== 'limited') return { kind: 'all' }
  return { kind: 'limited', depots: form.getAll('depots').map(String), markets: form.getAll('markets').map(String) }
}
