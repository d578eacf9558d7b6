import { z } from 'zod'

/** Settings of every program that keeps secrets, or tells them to whom they belong. */
export const secretsEnvironment = {
  KM0_SECRETS_KEY: z.string().optional().describe('keys that seal secrets in the store: 32 bytes in base64 a line, the one in use first'),
  // Of its own, not by the rule of NAME_FILE: the file is read again at each use, since `km0 secrets rotate` writes to it.
  KM0_SECRETS_KEY_FILE: z.string().optional().describe('file that holds them; `km0 secrets rotate` writes to it'),
}
