'use client'

import type { Depot, RegisteredVan } from '@km0/contracts/panel'
import { useTranslations } from 'next-intl'
import { type KeyboardEvent, useEffect, useId, useRef } from 'react'
import { useCommand } from '../operator/use-command.ts'
import { retiredDay, type VanRow } from './prepare-register.ts'
import styles from './register.module.css'

/** A van that is not registered yet, as a row to fill in. `heard`: the name that it sends, where it was heard. */
export const newVanRow = (heard: string): VanRow => ({
  van: { van: heard, name: '', plate: null, depotId: null, inServiceFromMs: null, inServiceToMs: null },
  ...{ depotName: null, service: 'in', from: '', to: '' },
})

/** A row whose cells are fields. Enter stores, Escape leaves it as it was. */
export function VanEditor(props: {
  readonly row: VanRow
  /** It is not registered yet: its name is a field too. */
  readonly isNew?: boolean
  readonly depots: readonly Depot[]
  readonly nowMs: number
  readonly onDone: (stored: boolean) => void
}) {
  const t = useTranslations('register')
  const id = useId()
  const { row, onDone } = props
  const { van } = row
  const first = useRef<HTMLInputElement>(null)
  const fields = useRef<HTMLTableRowElement>(null)
  const { sending, failure, send } = useCommand()
  useEffect(() => first.current?.focus(), [])

  const store = async (over: { readonly inServiceTo?: string } = {}) => {
    const value = (name: string) =>
      fields.current?.querySelector<HTMLInputElement | HTMLSelectElement>(`[name="${name}"]`)?.value.trim() ?? ''
    const name = props.isNew === true ? value('van') : van.van
    const orNull = (text: string) => (text === '' ? null : text)
    const done = await send<RegisteredVan>('/api/register/van', {
      van: name,
      name: value('name') === '' ? name : value('name'),
      plate: orNull(value('plate')),
      depotId: orNull(value('depot')),
      inServiceFrom: orNull(value('from')),
      inServiceTo: orNull(over.inServiceTo ?? value('to')),
    })
    if (done !== null) onDone(true)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onDone(false)
    if (event.key === 'Enter' && event.target instanceof HTMLInputElement) void store()
  }
  const label = (what: string) => t('fieldOf', { what, van: props.isNew === true ? t('newVan') : van.name })
  return (
    <tr ref={fields} className={styles.editor} data-editing={van.van} onKeyDown={onKeyDown}>
      <th scope="row">
        {props.isNew === true ? (
          <input
            ref={first}
            name="van"
            aria-label={t('vanField')}
            placeholder="furgoneta-141"
            defaultValue={van.van}
            maxLength={64}
            size={14}
          />
        ) : (
          van.van
        )}
      </th>
      <td>
        <input
          ref={props.isNew === true ? undefined : first}
          name="name"
          aria-label={label(t('name'))}
          defaultValue={van.name}
          maxLength={100}
        />
      </td>
      <td>
        <input name="plate" aria-label={label(t('plate'))} defaultValue={van.plate ?? ''} maxLength={20} size={10} />
      </td>
      <td>
        <select name="depot" aria-label={label(t('depot'))} defaultValue={van.depotId ?? ''}>
          <option value="">–</option>
          {props.depots.map((depot) => (
            <option key={depot.id} value={depot.id}>
              {depot.name}
            </option>
          ))}
        </select>
      </td>
      <td>
        <input type="date" name="from" aria-label={label(t('from'))} defaultValue={row.from} />
      </td>
      <td>
        <input
          type="date"
          name="to"
          aria-label={label(t('to'))}
          aria-describedby={failure === null ? undefined : id}
          defaultValue={row.to}
        />
        {failure !== null && (
          <p id={id} className={styles.failure} role="alert">
            {t('failed', { reason: failure })}
          </p>
        )}
      </td>
      <td className={styles.actions}>
        <button type="button" className={styles.store} disabled={sending} onClick={() => void store()}>
          {t('store')}
        </button>
        {props.isNew === true ? null : row.service === 'retired' ? (
          <button type="button" disabled={sending} onClick={() => void store({ inServiceTo: '' })}>
            {t('bringBack')}
          </button>
        ) : (
          <button type="button" disabled={sending} onClick={() => void store({ inServiceTo: retiredDay(row, props.nowMs) })}>
            {t('retire')}
          </button>
        )}
        <button type="button" onClick={() => onDone(false)}>
          {t('leave')}
        </button>
      </td>
    </tr>
  )
}
