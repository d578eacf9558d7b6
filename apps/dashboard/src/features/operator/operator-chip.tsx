'use client'

import { useTranslations } from 'next-intl'
import { type FocusEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { sessionLine } from '../sign-in/session-line.ts'
import { useSession } from '../sign-in/use-session.ts'
import { initials } from './initials.ts'
import styles from './operator-chip.module.css'
import { postJson } from './post-json.ts'

/** Who is signed in here, what they may do and see, and the way out. */
export function OperatorChip() {
  const t = useTranslations('session')
  const id = useId()
  const session = useSession()
  const [open, setOpen] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const box = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => void sessionLine.read(), [])
  useEffect(() => {
    if (!open) return
    const outside = (event: PointerEvent) => {
      if (event.target instanceof Node && box.current?.contains(event.target) !== true) setOpen(false)
    }
    document.addEventListener('pointerdown', outside)
    return () => document.removeEventListener('pointerdown', outside)
  }, [open])

  const leave = async () => {
    const answer = await postJson('/api/session/leave', {})
    if (answer.ok) window.location.assign('/entrada')
    else setFailure(answer.reason ?? t('offline'))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !open) return
    setOpen(false)
    button.current?.focus()
  }
  const onBlur = (event: FocusEvent<HTMLElement>) => {
    if (event.relatedTarget !== null && !event.currentTarget.contains(event.relatedTarget)) setOpen(false)
  }
  const name = session?.actor.name ?? null
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape and leaving close what its button opened
    <div ref={box} className={styles.box} onKeyDown={onKeyDown} onBlur={onBlur}>
      <button
        ref={button}
        type="button"
        className={styles.chip}
        data-known={name !== null}
        aria-expanded={open}
        aria-controls={id}
        onClick={() => setOpen(!open)}
      >
        <span className="visually-hidden">{name === null ? t('nobody') : t('menu', { name })}</span>
        {name === null ? (
          <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
            <circle cx="9" cy="6.4" r="3" />
            <path d="M3.2 15.6c.7-3 3-4.5 5.8-4.5s5.1 1.5 5.8 4.5" />
          </svg>
        ) : (
          <span aria-hidden="true">{initials(name)}</span>
        )}
      </button>
      <div id={id} className={styles.menu} hidden={!open}>
        {session === null ? (
          <a href="/entrada">{t('enter')}</a>
        ) : (
          <>
            <p className={styles.name}>{session.actor.name}</p>
            <p className={styles.role}>
              {t(`role.${session.actor.roles[0] ?? 'reader'}`)}
              {session.scope.kind === 'limited' && (
                <>
                  <br />
                  {t('sees', { places: [...session.scope.depots, ...session.scope.markets].join(', ') || t('nothing') })}
                </>
              )}
            </p>
            {session.kind === 'person' && (
              <>
                <a href="/entrada?contrasenya=1">{t('password')}</a>
                <button type="button" onClick={() => void leave()}>
                  {t('leave')}
                </button>
              </>
            )}
          </>
        )}
        {failure !== null && <p role="alert">{failure}</p>}
      </div>
    </div>
  )
}
