'use client'

import { useTranslations } from 'next-intl'
import { useCallback, useEffect, useRef, useState } from 'react'
import type { NoSignalRow } from './prepare-no-signal.ts'
import { type Notice, prepareNotices, type Told } from './prepare-notices.ts'

const STORED = 'km0_notices'

/** What this browser is asked to do at each new step. `blocked`: the browser does not let us show notifications. */
export interface NoticeChoice {
  readonly notification: boolean
  readonly sound: boolean
}

export interface NoticesHandle {
  readonly choice: NoticeChoice
  readonly blocked: boolean
  readonly setNotification: (on: boolean) => Promise<void>
  readonly setSound: (on: boolean) => void
}

const NONE: NoticeChoice = { notification: false, sound: false }

/** Tells of new steps of silences, when asked for: by a notification of the browser, by a sound. Remembered per browser. */
export function useNotices(rows: readonly NoSignalRow[], ready: boolean): NoticesHandle {
  const t = useTranslations('noSignal.notices')
  const [choice, setChoice] = useState<NoticeChoice>(NONE)
  const [blocked, setBlocked] = useState(false)
  const told = useRef<Told | null>(null)
  useEffect(() => {
    const stored = readChoice()
    const allowed = 'Notification' in window && Notification.permission === 'granted'
    setBlocked('Notification' in window && Notification.permission === 'denied')
    setChoice({ ...stored, notification: stored.notification && allowed })
  }, [])
  useEffect(() => {
    if (!ready) return
    const { notices, told: next } = prepareNotices(rows, told.current)
    told.current = next
    if (notices.length === 0) return
    if (choice.sound) beep()
    if (choice.notification) for (const notice of notices) show(notice, t('title', { van: notice.van }), bodyOf(notice))
    function bodyOf({ minutes, place }: Notice): string {
      return place === null ? t('bodyNowhere', { minutes }) : t('body', { minutes, place })
    }
  }, [rows, ready, choice, t])

  const keep = useCallback((next: NoticeChoice) => {
    setChoice(next)
    try {
      localStorage.setItem(STORED, JSON.stringify(next))
    } catch {
      // A browser that keeps nothing asks again the next time.
    }
  }, [])
  const setNotification = useCallback(
    async (on: boolean) => {
      if (!on) return keep({ ...choice, notification: false })
      if (!('Notification' in window)) return setBlocked(true)
      const permission = await Notification.requestPermission()
      setBlocked(permission === 'denied')
      keep({ ...choice, notification: permission === 'granted' })
    },
    [choice, keep],
  )
  const setSound = useCallback(
    (on: boolean) => {
      keep({ ...choice, sound: on })
      // Heard at once, and browsers let a page sound only after a click.
      if (on) beep()
    },
    [choice, keep],
  )
  return { choice, blocked, setNotification, setSound }
}

function readChoice(): NoticeChoice {
  try {
    const { notification, sound } = JSON.parse(localStorage.getItem(STORED) ?? '{}') as Partial<NoticeChoice>
    return { notification: notification === true, sound: sound === true }
  } catch {
    return NONE
  }
}

function show({ key, step }: Notice, title: string, body: string): void {
  try {
    // One of a tag replaces the other: two tabs show one, and a later step replaces the one before.
    const shown = new Notification(title, { body, tag: `km0 ${key}`, icon: '/icon.svg', requireInteraction: step >= 2 })
    shown.onclick = () => {
      window.focus()
      shown.close()
    }
  } catch {
    // Some phones have notifications for installed pages only.
  }
}

let audio: AudioContext | undefined

/** Two short tones. */
function beep(): void {
  if (!('AudioContext' in window)) return
  audio ??= new AudioContext()
  const { currentTime } = audio
  for (const [n, hertz] of [880, 660].entries()) {
    const tone = audio.createOscillator()
    const volume = audio.createGain()
    const startS = currentTime + n * 0.18
    tone.frequency.value = hertz
    volume.gain.setValueAtTime(0.0001, startS)
    volume.gain.exponentialRampToValueAtTime(0.25, startS + 0.02)
    volume.gain.exponentialRampToValueAtTime(0.0001, startS + 0.16)
    tone.connect(volume).connect(audio.destination)
    tone.start(startS)
    tone.stop(startS + 0.18)
  }
}
