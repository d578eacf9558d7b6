'use client'

import type { Depot, RegisteredVan } from '@km0/contracts/panel'
import { useTranslations } from 'next-intl'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { postJson } from '../operator/post-json.ts'
import { retiredDay, type VanRow } from './prepare-register.ts'
import styles from './register.module.css'

/** A row whose cells are fields. Enter stores, Escape leaves it as it was. */
export function VanEditor(props: {
  readonly row: VanRow
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
  const [sending, setSending] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  useEffect(() => first.current?.focus(), [])

  const store = async (over: { readonly inServiceTo?: string } = {}) => {
    if (sending) return
    const value = (name: string) =>
      fields.current?.querySelector<HTMLInputElement | HTMLSelectElement>(`[name="${name}"]`)?.value.trim() ?? ''
    const orNull = (text: string) => (text === '' ? null : text)
    setSending(true)
    setFailure(null)
    const answer = await postJson<RegisteredVan>('/api/register/van', {
      van: van.van,
      name: value('name') === '' ? van.van : value('name'),
      plate: orNull(value('plate')),
      depotId: orNull(value('depot')),
      inServiceFrom: orNull(value('from')),
      inServiceTo: orNull(over.inServiceTo ?? value('to')),
    })
    setSending(false)
    if (answer.ok) onDone(true)
    else setFailure(answer.reason ?? t('offline'))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onDone(false)
    if (event.key === 'Enter' && event.target instanceof HTMLInputElement) void store()
  }
  const label = (what: string) => t('fieldOf', { what, van: van.name })
  return (
    <tr ref={fields} className={styles.editor} data-editing={van.van} onKeyDown={onKeyDown}>
      <th scope="row">{van.van}</th>
      <td>
        <input ref={first} name="name" aria-label={label(t('name'))} defaultValue={van.name} maxLength={100} />
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
        {row.service === 'retired' ? (
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
