'use client'

import { type ReactNode, useEffect, useId, useRef } from 'react'
import styles from './dialog.module.css'

/** A modal dialog: the browser's own, which keeps the focus inside, closes on Escape and gives the focus back. */
export function Dialog(props: {
  readonly open: boolean
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}) {
  const { open } = props
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = element.current
    if (dialog === null) return
    if (open && !dialog.open) dialog.showModal()
    if (!open && dialog.open) dialog.close()
  }, [open])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the keyboard's way, and the browser has it
    <dialog
      ref={element}
      className={styles.dialog}
      aria-labelledby={id}
      onClose={props.onClose}
      onClick={(event) => {
        if (event.target === element.current) props.onClose()
      }}
    >
      {open && (
        <div className={styles.body}>
          <h2 id={id}>{props.title}</h2>
          {props.children}
        </div>
      )}
    </dialog>
  )
}
