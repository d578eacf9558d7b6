'use client'

import type { ServiceView } from '@km0/contracts/operations-panel'
import { useFormatter, useTranslations } from 'next-intl'
import { isoDuration, shortAge } from '../feed/durations.ts'
import card from '../shell/card.module.css'
import { MarkIcon } from './mark-icon.tsx'
import styles from './operations.module.css'
import { advice, prepareServices } from './prepare-shown.ts'

const MIB = 1_048_576

/** Each program: how it is, in its own words, and what to do about it. */
export function ServicesCard(props: { readonly services: readonly ServiceView[]; readonly nowMs: number }) {
  const t = useTranslations('operations')
  const format = useFormatter()
  return (
    <section className={card.card} aria-labelledby="services">
      <header className={card.head}>
        <h2 id="services">{t('services')}</h2>
      </header>
      <ul className={styles.services}>
        {prepareServices(props.services).map((service) => {
          const what = advice(service)
          return (
            <li key={service.name} data-service={service.name} data-mark={service.mark}>
              <MarkIcon mark={service.mark} />
              <div>
                <p className={styles.serviceName}>
                  <b>{t.has(`program.${service.name}`) ? t(`program.${service.name}`) : service.name}</b>
                  <span>{t(`status.${service.status}`)}</span>
                </p>
                {what !== null && <p className={styles.advice}>{t(`advice.${what}`)}</p>}
                {service.parts.length > 0 && (
                  <details open={service.mark !== 'ok'}>
                    <summary>{t('parts', { count: service.parts.length })}</summary>
                    <ul className={styles.parts} lang="en">
                      {service.parts.map(({ name, status, detail }) => (
                        <li key={name} data-status={status}>
                          <b>{name}</b> {detail ?? t(`status.${status}`)}
                        </li>
                      ))}
                    </ul>
                  </details>
                )}
              </div>
              <dl className={styles.facts}>
                {service.startedAtMs !== null && (
                  <div>
                    <dt>{t('up')}</dt>
                    <dd>
                      <time dateTime={isoDuration(props.nowMs - service.startedAtMs)}>{shortAge(props.nowMs - service.startedAtMs)}</time>
                    </dd>
                  </div>
                )}
                {service.memoryBytes !== null && (
                  <div>
                    <dt>{t('memory')}</dt>
                    <dd>{t('mib', { value: format.number(Math.round(service.memoryBytes / MIB)) })}</dd>
                  </div>
                )}
                {service.backpressure !== null && (
                  <div>
                    <dt>{t('backpressure')}</dt>
                    <dd>{format.number(service.backpressure, { style: 'percent' })}</dd>
                  </div>
                )}
              </dl>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
