'use client'

import { useTranslations } from 'next-intl'
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react'
import { StateIcon } from '../shell/state-icon.tsx'
import type { Van } from '../van/prepare-fleet.ts'
import { searchVans } from './prepare-search.ts'
import styles from './van-search.module.css'

/** Finds a van by name, plate, depot or municipality. `/` goes there from anywhere. */
export function VanSearch({ fleet, onSelect }: { readonly fleet: readonly Van[]; readonly onSelect: (van: string) => void }) {
  const t = useTranslations('search')
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const [query, setQuery] = useState('')
  const [open, setOpen] = useState(false)
  const [active, setActive] = useState(0)
  const results = useMemo(() => searchVans(fleet, query), [fleet, query])
  const shown = open && query.trim() !== ''
  const current = Math.min(active, results.length - 1)

  useEffect(() => {
    const focusField = (event: globalThis.KeyboardEvent) => {
      const target = event.target as HTMLElement
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || target.closest('input, textarea, select, dialog') !== null)
        return
      event.preventDefault()
      field.current?.focus()
      field.current?.select()
    }
    document.addEventListener('keydown', focusField)
    return () => document.removeEventListener('keydown', focusField)
  }, [])

  const choose = (van: Van | undefined) => {
    if (van === undefined) return
    onSelect(van.van)
    setQuery('')
    setOpen(false)
    field.current?.blur()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      if (shown) setOpen(false)
      else field.current?.blur()
      setQuery('')
      return
    }
    if (!shown) return
    if (event.key === 'Enter') choose(results[current])
    else if (event.key === 'ArrowDown') setActive(Math.min(current + 1, results.length - 1))
    else if (event.key === 'ArrowUp') setActive(Math.max(current - 1, 0))
    else return
    event.preventDefault()
  }
  return (
    <search className={styles.search}>
      <svg className={styles.glass} width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="7" cy="7" r="4.6" />
        <path d="M10.500 10.500L14 14" />
      </svg>
      <input
        ref={field}
        className={styles.input}
        type="text"
        role="combobox"
        aria-label={t('label')}
        aria-expanded={shown}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={shown && results.length > 0 ? `${id}-${current}` : undefined}
        placeholder={t('placeholder')}
        autoComplete="off"
        spellCheck={false}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value)
          setActive(0)
          setOpen(true)
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      <span className={styles.key} aria-hidden="true">
        /
      </span>
      <span className="visually-hidden" role="status">
        {shown ? t('results', { count: results.length }) : ''}
      </span>
      <div className={styles.popup} hidden={!shown}>
        <div id={`${id}-list`} role="listbox" aria-label={t('label')}>
          {results.map((van, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
            // biome-ignore lint/a11y/useFocusableInteractive: the same
            <div
              key={van.van}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === current}
              className={styles.option}
              // The field keeps the focus, so that the list stays until the click is done.
              onMouseDown={(event) => event.preventDefault()}
              onMouseEnter={() => setActive(index)}
              onClick={() => choose(van)}
            >
              <StateIcon state={van.state} doubtful={van.doubtful} />
              <span className={styles.name}>{van.name}</span>
              <span className={styles.facts}>{[van.plate, van.depotName, van.place].filter(Boolean).join(' · ')}</span>
            </div>
          ))}
        </div>
        {results.length === 0 && <p className={styles.none}>{t('none', { query: query.trim() })}</p>}
      </div>
    </search>
  )
}
