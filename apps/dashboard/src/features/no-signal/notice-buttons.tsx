'use client'

import { useTranslations } from 'next-intl'
import styles from './dispatch-lines.module.css'
import type { NoticesHandle } from './use-notices.ts'

/** Whether this browser tells of new steps, by a notification and by a sound. */
export function NoticeButtons({ notices }: { readonly notices: NoticesHandle }) {
  const t = useTranslations('noSignal.notices')
  const { choice, blocked } = notices
  return (
    <span className={styles.notices}>
      <button
        type="button"
        aria-pressed={choice.notification}
        aria-label={t('notification')}
        title={blocked ? t('blocked') : t('notificationHint')}
        data-blocked={blocked}
        onClick={() => void notices.setNotification(!choice.notification)}
      >
        <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
          <path d="M8 2a4 4 0 0 0-4 4v2.600L2.800 11h10.400L12 8.600V6a4 4 0 0 0-4-4zM6.500 13a1.600 1.600 0 0 0 3 0" />
          {!choice.notification && <path d="M2 2l12 12" />}
        </svg>
      </button>
      <button
        type="button"
        aria-pressed={choice.sound}
        aria-label={t('sound')}
        title={t('soundHint')}
        onClick={() => notices.setSound(!choice.sound)}
      >
        <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
          <path d="M2.500 6v4h2.500l3.500 3V3L5 6z" />
          {choice.sound ? (
            <path d="M11 5.500a3.500 3.500 0 0 1 0 5M12.800 3.500a6.200 6.200 0 0 1 0 9" />
          ) : (
            <path d="M11.500 6.500l3 3M14.500 6.500l-3 3" />
          )}
        </svg>
      </button>
      {blocked && (
        <span className="visually-hidden" role="status">
          {t('blocked')}
        </span>
      )}
    </span>
  )
}
