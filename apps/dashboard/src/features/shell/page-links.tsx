'use client'

import { useTranslations } from 'next-intl'
import { type FocusEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import styles from './page-links.module.css'
import { type Page, pageGroups } from './pages.ts'

export type { Page } from './pages.ts'

/** Stands for all groups together, on a phone. */
const ALL = 'all'

/**
 * The pages of the panel, and which of them this is: those to watch side by side, the others in a menu a group; on a phone all of them in one.
 * A menu is a list of links that a button shows and hides, so Tab goes through it; Escape, or leaving it, closes it.
 */
export function PageLinks({ page, roles = null }: { readonly page: Page; readonly roles?: readonly string[] | null }) {
  const t = useTranslations('pages')
  const [open, setOpen] = useState<string | null>(null)
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    if (open === null) return
    const outside = (event: PointerEvent) => {
      if (event.target instanceof Node && nav.current?.contains(event.target) !== true) setOpen(null)
    }
    document.addEventListener('pointerdown', outside)
    return () => document.removeEventListener('pointerdown', outside)
  }, [open])
  const groups = pageGroups(roles)
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || open === null) return
    nav.current?.querySelector<HTMLElement>(`[aria-controls="pages-${open}"]`)?.focus()
    setOpen(null)
  }
  const onBlur = (event: FocusEvent<HTMLElement>) => {
    if (event.relatedTarget !== null && !event.currentTarget.contains(event.relatedTarget)) setOpen(null)
  }
  const button = (name: string, label: string, current: boolean) => (
    <button
      type="button"
      className={styles.opener}
      data-current={current}
      aria-expanded={open === name}
      aria-controls={`pages-${name}`}
      onClick={() => setOpen(open === name ? null : name)}
    >
      {name === ALL && (
        <>
          <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
            <path d="M2 4h12M2 8h12M2 12h12" />
          </svg>
          <span className="visually-hidden">{t('title')}: </span>
        </>
      )}
      <span>{label}</span>
      <svg className={styles.arrow} width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
        <path d="M1.5 3.2 5 6.8l3.5-3.6" />
      </svg>
    </button>
  )
  const link = ({ name, path }: { readonly name: Page; readonly path: string }) => (
    <a href={path} aria-current={name === page ? 'page' : undefined}>
      {t(name)}
    </a>
  )
  return (
    <nav ref={nav} className={styles.links} data-page={page} aria-label={t('title')} onKeyDown={onKeyDown} onBlur={onBlur}>
      <div className={styles.phone}>
        {button(ALL, t(page), true)}
        <div id={`pages-${ALL}`} className={styles.menu} hidden={open !== ALL}>
          {groups.map((group) => (
            <section key={group.name} aria-labelledby={`pages-title-${group.name}`}>
              <h2 id={`pages-title-${group.name}`}>{t(`group.${group.name}`)}</h2>
              <ul>
                {group.pages.map((one) => (
                  <li key={one.name}>{link(one)}</li>
                ))}
              </ul>
            </section>
          ))}
        </div>
      </div>
      <ul className={styles.row}>
        {groups.map(({ name, pages }) =>
          name === 'watch' ? (
            pages.map((one) => <li key={one.name}>{link(one)}</li>)
          ) : (
            <li key={name}>
              {button(
                name,
                t(`group.${name}`),
                pages.some((one) => one.name === page),
              )}
              <ul id={`pages-${name}`} className={styles.menu} hidden={open !== name}>
                {pages.map((one) => (
                  <li key={one.name}>{link(one)}</li>
                ))}
              </ul>
            </li>
          ),
        )}
      </ul>
    </nav>
  )
}
