'use client'

import type { ImportView, RegisterKind } from '@km0/contracts/dispatch'
import { useTranslations } from 'next-intl'
import { type ChangeEvent, useEffect, useState } from 'react'
import { postJson } from '../operator/post-json.ts'
import { Dialog } from '../shell/dialog.tsx'
import form from '../shell/form.module.css'
import styles from './register.module.css'

/** Problems that are shown; the others are counted. */
const PROBLEMS_SHOWN = 100
/** Zones are large, and lines slow. */
const TIMEOUT_MS = 60_000

interface Chosen {
  readonly name: string
  readonly csv: string
  readonly preview: ImportView
}

/** A CSV file is looked at first: what it would change, or each line that is bad. Only a file without one can be stored, whole. */
export function ImportDialog(props: { readonly kind: RegisterKind | null; readonly onClose: () => void; readonly onStored: () => void }) {
  const t = useTranslations('register')
  const { kind, onClose } = props
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const [stored, setStored] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each register begins afresh
  useEffect(() => {
    setChosen(null)
    setBusy(false)
    setFailure(null)
    setStored(false)
  }, [kind])

  const choose = async (event: ChangeEvent<HTMLInputElement>) => {
    const file = event.target.files?.[0]
    if (file === undefined || kind === null) return
    setChosen(null)
    setFailure(null)
    setStored(false)
    const csv = await textOf(file)
    if (csv === null) return setFailure(t('notUtf8', { file: file.name }))
    setBusy(true)
    const answer = await postJson<ImportView>('/api/register/preview', { kind, csv }, TIMEOUT_MS)
    setBusy(false)
    if (answer.ok) setChosen({ name: file.name, csv, preview: answer.value })
    else setFailure(answer.reason ?? t('offline'))
  }
  const store = async () => {
    if (chosen === null || kind === null || busy) return
    setBusy(true)
    setFailure(null)
    const answer = await postJson<ImportView>('/api/register/import', { kind, csv: chosen.csv }, TIMEOUT_MS)
    setBusy(false)
    if (!answer.ok) return setFailure(answer.reason ?? t('offline'))
    setChosen({ ...chosen, preview: answer.value })
    if ('problems' in answer.value) return
    setStored(true)
    props.onStored()
  }
  const mayStore = chosen !== null && !('problems' in chosen.preview) && !stored
  return (
    <Dialog open={kind !== null} title={t('importTitle', { what: kind === null ? '' : t(`parts.${kind}`) })} onClose={onClose}>
      {kind !== null && (
        <div className={form.form}>
          <p className={form.lead}>{t(`columns.${kind}`)}</p>
          <label className={form.field}>
            <span>{t('file')}</span>
            <input type="file" accept=".csv,text/csv" onChange={(event) => void choose(event)} />
          </label>
          <div aria-live="polite">
            {busy && <p>{t('looking')}</p>}
            {chosen !== null && <Preview preview={chosen.preview} stored={stored} />}
          </div>
          {failure !== null && (
            <p className={form.failure} role="alert">
              {t('failed', { reason: failure })}
            </p>
          )}
          <div className={form.actions}>
            <button type="button" className={form.quiet} onClick={onClose}>
              {stored ? t('close') : t('leave')}
            </button>
            <button type="button" className={form.primary} disabled={!mayStore || busy} onClick={() => void store()}>
              {t('store')}
            </button>
          </div>
        </div>
      )}
    </Dialog>
  )
}

function Preview({ preview, stored }: { readonly preview: ImportView; readonly stored: boolean }) {
  const t = useTranslations('register')
  if (!('problems' in preview)) {
    return (
      <p className={styles.counts} data-stored={stored}>
        {t(stored ? 'didStore' : 'wouldStore', { added: preview.added, changed: preview.changed, same: preview.same })}
      </p>
    )
  }
  const { problems } = preview
  return (
    <>
      <p className={styles.bad}>{t('badLines', { count: problems.length })}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <ul className={styles.problems} tabIndex={0} aria-label={t('badLines', { count: problems.length })}>
        {problems.slice(0, PROBLEMS_SHOWN).map(({ line, problem }) => (
          <li key={`${line} ${problem}`}>
            <b>{t('line', { line })}</b> {problem}
          </li>
        ))}
        {problems.length > PROBLEMS_SHOWN && <li>{t('moreLines', { count: problems.length - PROBLEMS_SHOWN })}</li>}
      </ul>
    </>
  )
}

/** null: it is not UTF-8. */
async function textOf(file: File): Promise<string | null> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer())
  } catch {
    return null
  }
}
