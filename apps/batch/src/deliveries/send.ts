import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { madridDay, type PlatformEvent } from '@km0/contracts'
import { type DataOut, type DeliveryJob, type SecretBox, SecretsKeyError, type Serving, WEBHOOK_SECRET } from '@km0/serving'
import { z } from 'zod'
import { dailyReport, nameOfDay } from './daily-report.ts'
import { eventText, reportText, testText } from './event-text.ts'
import { type Outcome, wordsOf } from './outcome.ts'
import type { Mailer, MailMessage } from './send-mail.ts'
import { sendWebhook, type WebhookOptions } from './send-webhook.ts'

export interface SendOptions {
  readonly webhook: WebhookOptions
  /** null: no mail server is set. */
  readonly mailer: Mailer | null
  /** Opens what signs a webhook. */
  readonly secrets: SecretBox
  /** null: no folder is set. */
  readonly reportDir: string | null
  readonly serving: Pick<Serving, 'readDays'>
  readonly store: Pick<DataOut, 'readDaySilences'>
}

const reportBody = z.object({ dayMs: z.number().int() })

/** A report as it is sent: what it is called, and its rows as CSV. */
interface Report {
  readonly day: string
  readonly name: string
  readonly csv: string
}

/** Sends one delivery by its channel. Rejects when what it tells of could not be read. */
export async function send(job: DeliveryJob, options: SendOptions): Promise<Outcome> {
  const report = job.kind === 'report' ? await readReport(job, options) : null
  switch (job.channel) {
    case 'webhook': {
      let secret: string | null
      try {
        secret = job.secret === null ? null : options.secrets.open(job.secret, WEBHOOK_SECRET)
      } catch (error) {
        if (error instanceof SecretsKeyError) return { kind: 'later', answer: error.message }
        throw error
      }
      return sendWebhook(
        {
          ...{ url: job.target, secret, key: job.key, kind: job.kind, attempt: job.attempts + 1 },
          contentType: report === null ? 'application/json' : 'text/csv; charset=utf-8',
          body: report === null ? JSON.stringify(job.body) : report.csv,
        },
        options.webhook,
      )
    }
    case 'email':
      if (options.mailer === null) return { kind: 'later', answer: 'no mail server is set: KM0_SMTP_URL' }
      return options.mailer.send(mailOf(job, report))
    case 'folder':
      return writeReport(job, report, options.reportDir)
  }
}

async function readReport({ body, scope, name }: DeliveryJob, { serving, store }: SendOptions): Promise<Report> {
  const day = madridDay(reportBody.parse(body).dayMs)
  const [view, silences] = await Promise.all([serving.readDays(scope, [day]), store.readDaySilences(scope, day)])
  return { day: nameOfDay(day), name: `${fileName(name)}-${nameOfDay(day)}.csv`, csv: dailyReport(view, silences, day) }
}

function mailOf(job: DeliveryJob, report: Report | null): MailMessage {
  const to = { to: job.target, key: job.key }
  if (report !== null) return { ...to, ...reportText(report.day, job.locale), attachment: { name: report.name, csv: report.csv } }
  // The body is what our own transaction wrote.
  return { ...to, ...(job.kind === 'test' ? testText(job.locale) : eventText(job.body as PlatformEvent, job.locale)) }
}

/** A report is a file that is there whole or not at all; anything else a line of a file of events. */
async function writeReport(job: DeliveryJob, report: Report | null, folder: string | null): Promise<Outcome> {
  if (folder === null) return { kind: 'later', answer: 'no folder is set: KM0_REPORT_DIR' }
  const name = report?.name ?? `${fileName(job.name)}-${fileName(job.key)}.json`
  try {
    await mkdir(folder, { recursive: true })
    const path = join(folder, name)
    await writeFile(`${path}.part`, report?.csv ?? `${JSON.stringify(job.body)}\n`)
    await rename(`${path}.part`, path)
    return { kind: 'taken', answer: name }
  } catch (error) {
    return { kind: 'later', answer: wordsOf(error) }
  }
}

/** Letters, digits and dashes of a name: no part of a path. */
export function fileName(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return (
    plain
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, 60) || 'km0'
  )
}
