import { signInEnvironment } from '@km0/signin'
import { z } from 'zod'
import type { DoorLimits } from '../panel-server.ts'

/** Settings of the panel's door, besides those that it shares with `km0 user`. */
export const doorEnvironment = {
  ...signInEnvironment.shape,
  KM0_HTTP_PROXY: z
    .stringbool()
    .default(false)
    .describe("a proxy of ours stands in front: the last address of X-Forwarded-For is the sender's, which limits and audit go by"),
  KM0_SIGN_IN_ATTEMPTS: z.coerce.number().int().min(1).default(10).describe('failed attempts to sign in to one account within the window'),
  KM0_SIGN_IN_ATTEMPTS_ADDRESS: z.coerce.number().int().min(1).default(40).describe('failed attempts from one address within the window'),
  KM0_SIGN_IN_WINDOW_MINUTES: z.coerce
    .number()
    .min(0.01)
    .max(24 * 60)
    .default(15)
    .describe('minutes'),
  KM0_TOKEN_REQUESTS_PER_MINUTE: z.coerce.number().int().min(1).default(600).describe('requests a minute that one API token may make'),
  KM0_SESSION_REQUESTS_PER_MINUTE: z.coerce
    .number()
    .int()
    .min(1)
    .default(3_000)
    .describe('requests a minute that one session may make, all its pages together'),
  KM0_BODY_MAX_BYTES: z.coerce.number().int().min(1_024).max(16_000_000).default(16_384).describe('bytes of the body of a command'),
  KM0_UPLOAD_MAX_BYTES: z.coerce
    .number()
    .int()
    .min(1_024)
    .max(256_000_000)
    .default(8_000_000)
    .describe('bytes of a register or a zone that is sent'),
  KM0_SOCKET_MESSAGE_MAX_BYTES: z.coerce
    .number()
    .int()
    .min(256)
    .max(1_000_000)
    .default(4_096)
    .describe('bytes of what a browser sends on a socket'),
  KM0_HSTS_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .default(31_536_000)
    .describe('with KM0_HTTPS: for so long browsers come by https alone; 0: not told'),
  KM0_AUDIT_DAYS: z.coerce.number().min(1).max(10_000).default(400).describe('days that entries of the audit are kept'),
  KM0_SIGN_IN_LINK_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('file that holds the link of the first administrator until they have come in; only our user reads it'),
}

/** What a request may bring, how often a session may ask, and what browsers are told of https. */
export function doorLimits(settings: z.infer<z.ZodObject<typeof doorEnvironment>>): DoorLimits {
  return {
    sessionRequestsPerMinute: settings.KM0_SESSION_REQUESTS_PER_MINUTE,
    bodyMaxBytes: settings.KM0_BODY_MAX_BYTES,
    uploadMaxBytes: settings.KM0_UPLOAD_MAX_BYTES,
    socketMessageMaxBytes: settings.KM0_SOCKET_MESSAGE_MAX_BYTES,
    hstsSeconds: settings.KM0_HTTPS ? settings.KM0_HSTS_SECONDS : 0,
  }
}
