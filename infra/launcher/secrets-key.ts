import { join } from 'node:path'
import { makeSecretsKeyFile } from '@km0/serving'

/** Where the key is that seals secrets in the store, for every part: what is set, else a file in our data folder, made at the first start. */
export function secretsKeyOf(dataDir: string, environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  if (environment.KM0_SECRETS_KEY || environment.KM0_SECRETS_KEY_FILE) return {}
  const file = join(dataDir, 'secrets-key')
  makeSecretsKeyFile(file)
  return { KM0_SECRETS_KEY_FILE: file }
}
