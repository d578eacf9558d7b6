import { secretsEnvironment } from '@km0/serving'
import { z } from 'zod'

const positive = (fallback: number) => z.coerce.number().int().positive().default(fallback)
const flag = z.enum(['true', 'false']).default('false')

/** Settings of what goes out by itself: webhooks, e-mail, daily reports. */
export const deliveryEnvironment = z.object({
  /** How often new events are looked for. */
  KM0_DELIVERY_POLL_MS: positive(1_000),
  /** Tries of a delivery before it is given up. */
  KM0_DELIVERY_ATTEMPTS: z.coerce.number().int().min(1).max(50).default(10),
  /** Time before the second try; doubled for each further one. */
  KM0_DELIVERY_BACKOFF_MS: positive(5_000),
  /** Put into the queue again when nothing was heard of it for so long, in case Redis has lost it. One that is there is not added twice. */
  KM0_DELIVERY_CHECK_MS: positive(30_000),
  /** A receiver that has not answered within it has not taken the delivery. */
  KM0_DELIVERY_TIMEOUT_MS: positive(10_000),
  /** Events that were found so late are history: nobody is told. */
  KM0_DELIVERY_MAX_AGE_MS: positive(86_400_000),
  /** As the panel's: a van without calendar whose last point is nearer to its depot, in metres, is at the depot; nobody is told of its silence. */
  KM0_DEPOT_DISTANCE_M: z.coerce.number().min(0).max(10_000).default(150),
  /** Days for which deliveries and events are kept. */
  KM0_DELIVERY_KEEP_DAYS: positive(30),
  /** `true`: webhooks may go to private, local and reserved addresses. */
  KM0_WEBHOOK_PRIVATE: flag.transform((text) => text === 'true'),
  /** Mail server, `smtp://user:password@host:587` or `smtps://…`; without one no e-mail is sent. */
  KM0_SMTP_URL: z
    .string()
    .regex(/^smtps?:\/\/[^\s]+$/, 'is smtp://… or smtps://…')
    .optional(),
  /** Sender of e-mail. */
  KM0_SMTP_FROM: z.string().default('Quilòmetre Zero <km0@localhost>'),
  /** Folder into which reports are written; without one none is. */
  KM0_REPORT_DIR: z.string().optional(),
  /** Days whose missed reports are caught up. */
  KM0_REPORT_DAYS: z.coerce.number().int().min(1).max(31).default(7),
  ...secretsEnvironment,
})

export type DeliverySettings = z.infer<typeof deliveryEnvironment>
