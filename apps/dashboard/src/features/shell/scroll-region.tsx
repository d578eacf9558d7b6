import type { ReactNode } from 'react'

/** What is wider or longer than its place: it scrolls, and is reached by keyboard for that. Named by a text, or by the element that names it. */
export function ScrollRegion(props: {
  readonly className: string | undefined
  readonly label?: string
  readonly labelledBy?: string
  readonly children: ReactNode
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section className={props.className} tabIndex={0} aria-label={props.label} aria-labelledby={props.labelledBy}>
      {props.children}
    </section>
  )
}
