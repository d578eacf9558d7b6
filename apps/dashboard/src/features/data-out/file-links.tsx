'use client'

import { useSession } from '../sign-in/use-session.ts'
import styles from './file-links.module.css'
import { offeredLinks } from './offered-links.ts'
import type { PageFile } from './table-files.ts'

/** A file of what is on the page: a path of the server, or made here, at the moment when somebody asks for it. */
export interface FileLink {
  readonly format: 'CSV' | 'GeoJSON'
  readonly from: string | (() => PageFile)
}

/** Files of one thing, told by its name: "Windows: CSV". */
export function FileLinks({ what, links }: { readonly what: string; readonly links: readonly FileLink[] }) {
  const offered = offeredLinks(links, useSession())
  if (offered.length === 0) return null
  return (
    <span className={styles.files}>
      {offered.map(({ format, from }) =>
        typeof from === 'string' ? (
          <a key={format} href={from} download aria-label={`${what}: ${format}`}>
            {format}
          </a>
        ) : (
          <button key={format} type="button" aria-label={`${what}: ${format}`} onClick={() => save(from())}>
            {format}
          </button>
        ),
      )}
    </span>
  )
}

function save({ name, type, text }: PageFile): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser reads it after the click has returned.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
