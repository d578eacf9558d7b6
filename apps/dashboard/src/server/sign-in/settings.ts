import { signInEnvironment } from '@km0/signin'
import { z } from 'zod'

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
  KM0_AUDIT_DAYS: z.coerce.number().min(1).max(10_000).default(400).describe('days that entries of the audit are kept'),
  KM0_SIGN_IN_LINK_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('file that holds the link of the first administrator until they have come in; only our user reads it'),
}
