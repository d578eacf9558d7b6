'use client'

import type { RegisterView } from '@km0/contracts/dispatch'
import { useTranslations } from 'next-intl'
import { useMemo, useState } from 'react'
import { EmptyState } from '../shell/list-state.tsx'
import { ScrollRegion } from '../shell/scroll-region.tsx'
import { prepareVanRows, VANS_SHOWN, type VanRow } from './prepare-register.ts'
import styles from './register.module.css'
import { newVanRow, VanEditor } from './van-editor.tsx'

export function VansTable(props: {
  readonly view: RegisterView
  readonly search: string
  readonly nowMs: number
  readonly onStored: () => void
  /** A row for one that is not registered yet; '' or the name that it sends. */
  readonly adding: string | null
  readonly onAdded: () => void
}) {
  const t = useTranslations('register')
  const { view, search } = props
  // Not each second: who is in service changes at midnight.
  const minuteMs = Math.floor(props.nowMs / 60_000) * 60_000
  const rows = useMemo(() => prepareVanRows(view, search, minuteMs), [view, search, minuteMs])
  const [editing, setEditing] = useState<string | null>(null)
  const [saved, setSaved] = useState<string | null>(null)
  if (rows.length === 0 && props.adding === null)
    return <EmptyState kind="waiting" title={t(search === '' ? 'noVans' : 'noMatch')} hint={t('noVansHint')} />
  return (
    <ScrollRegion className={styles.scroll} labelledBy="register-title">
      <table className={styles.table} aria-labelledby="register-title">
        <thead>
          <tr>
            <th scope="col">{t('van')}</th>
            <th scope="col">{t('name')}</th>
            <th scope="col">{t('plate')}</th>
            <th scope="col">{t('depot')}</th>
            <th scope="col">{t('from')}</th>
            <th scope="col">{t('to')}</th>
            <th scope="col">
              <span className="visually-hidden">{t('edit')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {props.adding !== null && (
            <VanEditor
              key={`new ${props.adding}`}
              row={newVanRow(props.adding)}
              isNew
              depots={view.depots}
              nowMs={props.nowMs}
              onDone={(stored) => {
                props.onAdded()
                if (stored) props.onStored()
              }}
            />
          )}
          {rows.slice(0, VANS_SHOWN).map((row) =>
            editing === row.van.van ? (
              <VanEditor
                key={row.van.van}
                row={row}
                depots={view.depots}
                nowMs={props.nowMs}
                onDone={(stored) => {
                  setEditing(null)
                  if (stored) {
                    setSaved(row.van.van)
                    props.onStored()
                  }
                }}
              />
            ) : (
              <Row key={row.van.van} row={row} saved={saved === row.van.van} onEdit={view.mayEdit ? () => setEditing(row.van.van) : null} />
            ),
          )}
        </tbody>
      </table>
      {rows.length > VANS_SHOWN && <p className={styles.hint}>{t('more', { count: rows.length - VANS_SHOWN })}</p>}
    </ScrollRegion>
  )
}

function Row({ row, saved, onEdit }: { readonly row: VanRow; readonly saved: boolean; readonly onEdit: (() => void) | null }) {
  const t = useTranslations('register')
  const { van, service } = row
  return (
    <tr data-van={van.van} data-service={service}>
      <th scope="row">{van.van}</th>
      <td>
        {van.name}
        {service !== 'in' && <em className={styles.service}>{t(`service.${service}`)}</em>}
        {saved && (
          <em className={styles.saved} role="status">
            {t('saved')}
          </em>
        )}
      </td>
      <td>{van.plate ?? '–'}</td>
      <td>{row.depotName ?? '–'}</td>
      <td>{row.from === '' ? '–' : row.from}</td>
      <td>{row.to === '' ? '–' : row.to}</td>
      <td className={styles.actions}>
        {onEdit !== null && (
          <button type="button" aria-label={t('editVan', { van: van.name })} onClick={onEdit}>
            {t('edit')}
          </button>
        )}
      </td>
    </tr>
  )
}
