'use client'

import { type FocusEvent, useMemo, useRef, useState } from 'react'
import { type HeldRow, holdRows } from './prepare-held-rows.ts'

/** Rows that keep their places while the pointer or the focus is among them. Spread `handlers` on the element that holds them. */
export function useHeldRows<Row extends { readonly key: string }>(rows: readonly Row[], version: string) {
  const [pointer, setPointer] = useState(false)
  const [focus, setFocus] = useState(false)
  const held = pointer || focus
  const shown = useRef<readonly HeldRow<Row>[]>([])
  const shownVersion = useRef(version)
  const result = useMemo(() => {
    // Whoever asks for another order gets it at once.
    const next = holdRows(shown.current, rows, held && shownVersion.current === version)
    shown.current = next
    shownVersion.current = version
    return next
  }, [rows, held, version])
  const handlers = {
    onPointerEnter: () => setPointer(true),
    onPointerLeave: () => setPointer(false),
    onFocus: (event: FocusEvent<HTMLElement>) => setFocus(event.target.matches(':focus-visible')),
    onBlur: (event: FocusEvent<HTMLElement>) => setFocus(event.currentTarget.contains(event.relatedTarget)),
  }
  return { rows: result, held, handlers }
}
