'use client'

import { type Market, REGISTER_KINDS, type RegisterKind, type RegisterView } from '@km0/contracts/dispatch'
import type { Depot } from '@km0/contracts/panel'
import { useTranslations } from 'next-intl'
import { type ReactNode, useState } from 'react'
import { useOperator } from '../operator/use-operator.ts'
import card from '../shell/card.module.css'
import { PolledState } from '../shell/list-state.tsx'
import { PlainHeader } from '../shell/plain-header.tsx'
import { SkipLink } from '../shell/skip-link.tsx'
import type { Theme } from '../shell/theme.ts'
import { usePolled } from '../shell/use-polled.ts'
import { useTheme } from '../shell/use-theme.ts'
import { ImportDialog } from './import-dialog.tsx'
import { DepotDialog, MarketDialog } from './place-dialogs.tsx'
import { DepotsTable, MarketsTable } from './places-tables.tsx'
import styles from './register.module.css'
import { ShiftsDialog } from './shifts-dialog.tsx'
import { ShiftsList } from './shifts-list.tsx'
import { VansTable } from './vans-table.tsx'

const EVERY_MS = 10_000

/** The register: vans, depots, markets and shifts, read by everybody and changed by administrators. */
export function RegisterApp(props: {
  readonly brand: ReactNode
  readonly theme: Theme
  readonly part: RegisterKind
  /** Name of a van that was heard and is to be registered; null: none. */
  readonly newVan: string | null
}) {
  const t = useTranslations('register')
  const operator = useOperator()
  const [theme, switchTheme] = useTheme(props.theme)
  const [part, setPart] = useState(props.part)
  const [search, setSearch] = useState('')
  const [importing, setImporting] = useState(false)
  const [editing, setEditing] = useState<Editing | null>(props.newVan === null ? null : { part: 'vans', heard: props.newVan })
  const live = usePolled<RegisterView>('/api/register', () => EVERY_MS)
  const { view } = live
  const open = (kind: RegisterKind) => {
    window.history.replaceState(null, '', `?part=${kind}`)
    setPart(kind)
    setEditing(null)
  }
  return (
    <div className={styles.app}>
      <SkipLink target="lists" />
      <PlainHeader brand={props.brand} page="register" line={live.line} theme={theme} onSwitchTheme={switchTheme} operator={operator} />
      <main className={styles.main} id="lists" tabIndex={-1} aria-label={t('title')}>
        <section className={card.card} aria-labelledby="register-title">
          <header className={`${card.head} ${styles.bar}`}>
            <h1 id="register-title">{t('title')}</h1>
            <fieldset className={styles.parts}>
              <legend className="visually-hidden">{t('which')}</legend>
              {REGISTER_KINDS.map((kind) => (
                <button key={kind} type="button" aria-pressed={kind === part} onClick={() => open(kind)}>
                  {t(`parts.${kind}`)} {view !== null && <small>{kind === 'shifts' ? calendarsIn(view) : view[kind].length}</small>}
                </button>
              ))}
            </fieldset>
            {part === 'vans' && (
              <label className={styles.search}>
                <span className="visually-hidden">{t('search')}</span>
                <input type="search" placeholder={t('search')} value={search} onChange={(event) => setSearch(event.target.value)} />
              </label>
            )}
            <span className={styles.files}>
              <a href={`/api/register.csv?kind=${part}`} download>
                {t('export')}
              </a>
              {view?.mayEdit === true && (
                <>
                  {part !== 'shifts' && (
                    <button type="button" onClick={() => setEditing(part === 'vans' ? { part, heard: '' } : { part, thing: null })}>
                      {t(`add.${part}`)}
                    </button>
                  )}
                  <button type="button" onClick={() => setImporting(true)}>
                    {t('import')}
                  </button>
                </>
              )}
            </span>
          </header>
          {view !== null && !view.mayEdit && <p className={styles.hint}>{t('readOnly')}</p>}
          <PolledState polled={live} rows={8} />
          {view !== null && part === 'vans' && (
            <VansTable
              view={view}
              search={search}
              nowMs={live.nowMs}
              onStored={live.refresh}
              adding={editing?.part === 'vans' && view.mayEdit ? editing.heard : null}
              onAdded={() => setEditing(null)}
            />
          )}
          {view !== null && part === 'depots' && (
            <DepotsTable view={view} onEdit={view.mayEdit ? (thing) => setEditing({ part, thing }) : null} />
          )}
          {view !== null && part === 'markets' && (
            <MarketsTable view={view} onEdit={view.mayEdit ? (thing) => setEditing({ part, thing }) : null} />
          )}
          {view !== null && part === 'shifts' && (
            <ShiftsList view={view} nowMs={live.nowMs} onEdit={view.mayEdit ? (thing) => setEditing({ part, thing }) : null} />
          )}
        </section>
        {view !== null && editing !== null && (
          <EditDialog view={view} editing={editing} onStored={live.refresh} onClose={() => setEditing(null)} />
        )}
        <ImportDialog kind={importing ? part : null} onClose={() => setImporting(false)} onStored={live.refresh} />
      </main>
    </div>
  )
}

/** What is being changed; `thing` null: a new one. */
type Editing =
  | { readonly part: 'vans'; readonly heard: string }
  | { readonly part: 'depots'; readonly thing: Depot | null }
  | { readonly part: 'markets'; readonly thing: Market | null }
  | { readonly part: 'shifts'; readonly thing: Depot }

function EditDialog(props: {
  readonly view: RegisterView
  readonly editing: Editing
  readonly onStored: () => void
  readonly onClose: () => void
}) {
  const { editing, ...given } = props
  if (editing.part === 'depots') return <DepotDialog {...given} thing={editing.thing} />
  if (editing.part === 'markets') return <MarketDialog {...given} thing={editing.thing} />
  return editing.part === 'shifts' ? <ShiftsDialog {...given} depot={editing.thing} /> : null
}

const calendarsIn = ({ shifts }: RegisterView) => new Set(shifts.map(({ depotId }) => depotId)).size
