import { createHash } from 'node:crypto'
import { createTransport, type Transporter } from 'nodemailer'
import { type Outcome, shortAnswer, wordsOf } from './outcome.ts'

export interface MailMessage {
  /** Addresses with commas. */
  readonly to: string
  /** Natural key; the message's id is made of it, so mail programs show a message once that was sent twice. */
  readonly key: string
  readonly subject: string
  readonly text: string
  readonly attachment?: { readonly name: string; readonly csv: string }
}

export interface Mailer {
  send(message: MailMessage): Promise<Outcome>
  close(): void
}

/** A mail server's codes from 500 on: it will say the same again. */
const REFUSED_FROM = 500

/** Sends over one mail server. Nothing is connected before the first message. */
export function openMailer(given: { readonly url: string; readonly from: string; readonly timeoutMs: number }): Mailer {
  const { timeoutMs } = given
  const url = new URL(given.url)
  const transport: Transporter = createTransport({
    host: url.hostname,
    port: url.port === '' ? (url.protocol === 'smtps:' ? 465 : 587) : Number(url.port),
    secure: url.protocol === 'smtps:',
    ...(url.username === '' ? {} : { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    ...(url.searchParams.get('insecure') === 'true' ? { tls: { rejectUnauthorized: false } } : {}),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    send: async ({ to, key, subject, text, attachment }) => {
      try {
        const { response } = await transport.sendMail({
          from: given.from,
          to,
          subject,
          text,
          messageId: `<${createHash('sha256').update(`${key} ${to}`).digest('hex').slice(0, 32)}@quilometre-zero>`,
          headers: { 'Km0-Key': encodeURIComponent(key) },
          ...(attachment === undefined
            ? {}
            : { attachments: [{ filename: attachment.name, content: attachment.csv, contentType: 'text/csv; charset=utf-8' }] }),
        })
        return { kind: 'taken', answer: shortAnswer(String(response)) }
      } catch (error) {
        const code = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0
        return { kind: code >= REFUSED_FROM ? 'refused' : 'later', answer: wordsOf(error) }
      }
    },
    close: () => transport.close(),
  }
}
