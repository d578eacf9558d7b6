import { parseArgs } from 'node:util'
import { rotateSecretsKey, SecretsKeyError } from '@km0/serving'
import { findDatabaseUrl, findSecretsKeyFile } from './addresses.ts'
import { type Command, CommandError } from './command.ts'
import { noteCommand, withSignIn } from './user-open.ts'

export const secretsRotate: Command = {
  words: ['secrets', 'rotate'],
  summary: 'seal the secrets in the store with a new key',
  help: `km0 secrets rotate

  Makes a new key, puts it first into the file of keys, and seals with it whatever secret stands in the store. Programs run on: they read the file at
  each use. The key before stays in the file until the next time; take its line away when nothing is wrong. A backup of before needs the key of then.
  Takes KM0_SECRETS_KEY_FILE and DATABASE_URL, or the platform that \`npm start\` runs here.`,
  run: async (args) => {
    parseArgs({ args: [...args], options: {} })
    const file = findSecretsKeyFile(process.env)
    try {
      const sealed = await rotateSecretsKey(file, { databaseUrl: findDatabaseUrl(process.env), applicationName: 'km0-cli' })
      await withSignIn((signIn) => noteCommand(signIn, 'secrets rotate', `${sealed} secrets`))
      process.stdout.write(`${file} begins with a new key; ${sealed} secrets are sealed with it\n`)
      return 0
    } catch (error) {
      if (error instanceof SecretsKeyError) throw new CommandError(error.message)
      throw error
    }
  },
}
