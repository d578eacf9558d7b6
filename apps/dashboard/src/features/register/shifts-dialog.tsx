'use client'

import { type RegisterView, WEEKDAYS } from '@km0/contracts/dispatch'
import type { Depot } from '@km0/contracts/panel'
import { useTranslations } from 'next-intl'
import { useState } from 'react'
import form from '../shell/form.module.css'
import { calendarFields, shiftsOf } from './prepare-forms.ts'
import styles from './register.module.css'
import { RegisterDialog } from './register-dialog.tsx'

/** The calendar of a depot: hours by weekday, as they are written, and dates that differ. */
export function ShiftsDialog(props: {
  readonly view: RegisterView
  readonly depot: Depot
  readonly onStored: () => void
  readonly onClose: () => void
}) {
  const t = useTranslations('register')
  const { depot } = props
  const [{ week, dates }, setFields] = useState(() => calendarFields(props.view, depot.id))
  const setDay = (day: string, hours: string) => setFields({ week: { ...week, [day]: hours }, dates })
  const setDate = (index: number, change: { readonly date?: string; readonly hours?: string }) =>
    setFields({ week, dates: dates.map((line, at) => (at === index ? { ...line, ...change } : line)) })
  const monday = week.mon ?? ''
  const body = () => {
    const shifts = shiftsOf({ week, dates })
    return 'problem' in shifts ? shifts : { depotId: depot.id, shifts }
  }
  return (
    <RegisterDialog
      title={t('calendarOf', { depot: depot.name })}
      lead={t('calendarLead')}
      path="/api/register/shifts"
      body={body}
      remove={null}
      onStored={props.onStored}
      onClose={props.onClose}
    >
      <fieldset className={styles.week}>
        <legend>{t('parts.shifts')}</legend>
        {WEEKDAYS.map((day) => (
          <label key={day}>
            <span>{t(`weekdays.${day}`)}</span>
            <input
              value={week[day] ?? ''}
              placeholder={t('noHours')}
              maxLength={100}
              onChange={(event) => setDay(day, event.target.value)}
            />
          </label>
        ))}
        <button
          type="button"
          className={form.quiet}
          disabled={monday === ''}
          onClick={() =>
            setFields({ week: { ...week, ...Object.fromEntries(['tue', 'wed', 'thu', 'fri'].map((day) => [day, monday])) }, dates })
          }
        >
          {t('likeMonday')}
        </button>
      </fieldset>
      <fieldset className={styles.week}>
        <legend>{t('exceptions')}</legend>
        {dates.map(({ date, hours }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line has no name of its own while its date is being typed
          <div key={index} className={styles.pair}>
            <input
              type="date"
              aria-label={t('dateField')}
              value={date}
              onChange={(event) => setDate(index, { date: event.target.value })}
            />
            <input
              aria-label={t('hoursOf', { date })}
              value={hours}
              placeholder={t('dayOff')}
              maxLength={100}
              onChange={(event) => setDate(index, { hours: event.target.value })}
            />
            <button
              type="button"
              className={form.quiet}
              aria-label={t('removeDate', { date })}
              onClick={() => setFields({ week, dates: dates.filter((_, at) => at !== index) })}
            >
              ×
            </button>
          </div>
        ))}
        <button type="button" className={form.quiet} onClick={() => setFields({ week, dates: [...dates, { date: '', hours: '' }] })}>
          {t('addDate')}
        </button>
      </fieldset>
    </RegisterDialog>
  )
}
