'use client'

import type { Market, RegisterView } from '@km0/contracts/dispatch'
import type { Depot } from '@km0/contracts/panel'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import form from '../shell/form.module.css'
import { type FormProblem, idOf, readPlace, readZone } from './prepare-forms.ts'
import styles from './register.module.css'
import { RegisterDialog } from './register-dialog.tsx'

interface Given<Thing> {
  readonly view: RegisterView
  /** null: a new one. */
  readonly thing: Thing | null
  readonly onStored: () => void
  readonly onClose: () => void
}

/** The identifier of a new one; not one that there is already. */
function newId(given: FormData, known: readonly { readonly id: string }[]): string | FormProblem {
  const id = text(given, 'id') || idOf(text(given, 'name'))
  return known.some((one) => one.id === id) ? { problem: 'taken', what: id } : id
}
const text = (given: FormData, name: string) => String(given.get(name) ?? '').trim()

export function DepotDialog({ view, thing, onStored, onClose }: Given<Depot>) {
  const t = useTranslations('register')
  const markets = [...new Set([...view.markets.map(({ id }) => id), ...(thing?.markets ?? [])])]
  const nameOf = (id: string) => view.markets.find((market) => market.id === id)?.name ?? id
  const body = (given: FormData) => {
    const id = thing?.id ?? newId(given, view.depots)
    if (typeof id !== 'string') return id
    const place = readPlace(text(given, 'place'))
    if (place === null) return { problem: 'place' as const, what: text(given, 'place') }
    return {
      ...{ id, name: text(given, 'name'), ...place, markets: given.getAll('markets').map(String) },
      ...{ shiftStart: text(given, 'start') || null, shiftEnd: text(given, 'end') || null },
    }
  }
  return (
    <RegisterDialog
      title={thing === null ? t('newDepot') : t('editOf', { what: thing.name })}
      lead={t('depotLead')}
      path="/api/register/depot"
      body={body}
      remove={thing === null ? null : { kind: 'depots', id: thing.id }}
      onStored={onStored}
      onClose={onClose}
    >
      <NameFields thing={thing} />
      <label className={form.field}>
        <span>{t('placeField')}</span>
        <input name="place" required placeholder="41.98311, 2.82493" defaultValue={thing === null ? '' : `${thing.lat}, ${thing.lon}`} />
      </label>
      <div className={styles.pair}>
        <label className={form.field}>
          <span>{t('dailyFrom')}</span>
          <input type="time" name="start" defaultValue={thing?.shiftStart ?? ''} />
        </label>
        <label className={form.field}>
          <span>{t('dailyTo')}</span>
          <input type="time" name="end" defaultValue={thing?.shiftEnd ?? ''} />
        </label>
      </div>
      {markets.length > 0 && (
        <fieldset className={styles.checks}>
          <legend>{t('marketsOf')}</legend>
          {markets.map((id) => (
            <label key={id}>
              <input type="checkbox" name="markets" value={id} defaultChecked={thing?.markets.includes(id) ?? false} /> {nameOf(id)}
            </label>
          ))}
        </fieldset>
      )}
    </RegisterDialog>
  )
}

export function MarketDialog({ view, thing, onStored, onClose }: Given<Market>) {
  const t = useTranslations('register')
  const [zone, setZone] = useState(thing === null || thing.zone === null ? '' : JSON.stringify(thing.zone))
  const body = (given: FormData) => {
    const id = thing?.id ?? newId(given, view.markets)
    if (typeof id !== 'string') return id
    const read = readZone(zone)
    return 'problem' in read ? read : { id, name: text(given, 'name'), zone: read.zone }
  }
  return (
    <RegisterDialog
      title={thing === null ? t('newMarket') : t('editOf', { what: thing.name })}
      lead={t('marketLead')}
      path="/api/register/market"
      body={body}
      remove={thing === null ? null : { kind: 'markets', id: thing.id }}
      onStored={onStored}
      onClose={onClose}
    >
      <NameFields thing={thing} />
      <label className={form.field}>
        <span>{t('zoneFile')}</span>
        <input
          type="file"
          accept=".geojson,.json,application/geo+json"
          onChange={(event) => void event.target.files?.[0]?.text().then(setZone)}
        />
      </label>
      <label className={form.field}>
        <span>{t('zoneText')}</span>
        <textarea name="zone" rows={5} spellCheck={false} value={zone} onChange={(event) => setZone(event.target.value)} />
      </label>
    </RegisterDialog>
  )
}

/** What people call it, and what files and links call it: that one stays as it was made. */
function NameFields({ thing }: { readonly thing: { readonly id: string; readonly name: string } | null }) {
  const t = useTranslations('register')
  const [name, setName] = useState(thing?.name ?? '')
  return (
    <>
      <label className={form.field}>
        <span>{t('name')}</span>
        <input name="name" required maxLength={100} value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      {thing === null && (
        <label className={form.field}>
          <span>{t('idField')}</span>
          <input name="id" maxLength={64} placeholder={idOf(name)} />
        </label>
      )}
    </>
  )
}
