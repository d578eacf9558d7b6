import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { MQTT_TOPICS } from '@km0/contracts'
import { parseEnvironment } from '@km0/runtime'
import { BrokerAccounts, checkVanId, newSecret } from './broker-accounts.ts'
import { accountsFolder, brokerEnvironment, reloadBroker } from './broker-open.ts'
import { type Command, CommandError } from './command.ts'
import { owntracksConfiguration, owntracksLink, qrAsSvg, qrForTerminal } from './owntracks-configuration.ts'

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const TAKES = `Takes KM0_BROKER_ACCOUNTS (with containers: docker compose run --rm km0 van …) and KM0_MQTT_PUBLIC, the broker's address as vans reach it.
  A running broker takes the change without a restart.`
const OUTPUT = `  Prints name, password and topic, once: the password is kept as a hash alone. --otrc FILE writes a configuration for OwnTracks, - prints it and
  nothing else; --qr prints it as a QR code, --qr-svg FILE writes that as a picture. Who has the file or the code has the password.`

/** A command that hands out a new password. */
function issuing(options: { readonly word: string; readonly summary: string; readonly mustExist: boolean }): Command {
  return {
    words: ['van', options.word],
    summary: options.summary,
    help: `km0 van ${options.word} ID [--otrc FILE] [--qr] [--qr-svg FILE]\n\n${OUTPUT}\n  ${TAKES}`,
    run: async (args) => {
      const { values, positionals } = parseArgs({
        args: [...args],
        options: { otrc: text, qr: flag, 'qr-svg': text },
        allowPositionals: true,
      })
      const van = vanOf(positionals)
      const accounts = new BrokerAccounts(accountsFolder(process.env))
      const exists = accounts.names().includes(van)
      if (exists && !options.mustExist)
        throw new CommandError(`${van} has an account already: km0 van rotate ${van} gives it a new password`)
      if (!exists && options.mustExist) throw new CommandError(`${van} has no account: km0 van add ${van}`)
      const password = newSecret()
      accounts.set(van, password)
      reloadBroker(process.env)
      const { KM0_MQTT_PUBLIC: address, KM0_MQTT_PUBLIC_TLS: tls } = parseEnvironment(brokerEnvironment, process.env)
      const [host = '', port = ''] = address.split(':')
      const configuration = owntracksConfiguration({ van, password, host, port: Number(port), tls })
      if (values.otrc === '-') {
        process.stdout.write(configuration)
        return 0
      }
      process.stdout.write(`broker    ${address}${tls ? ' (TLS)' : ''}\nname      ${van}\npassword  ${password}\n`)
      process.stdout.write(`topic     ${MQTT_TOPICS.positionFilter.replace('+', van)}\n`)
      if (values.otrc !== undefined) writeFileSync(values.otrc, configuration, { mode: 0o600 })
      if (values.qr) process.stdout.write(qrForTerminal(owntracksLink(configuration)))
      if (values['qr-svg'] !== undefined) writeFileSync(values['qr-svg'], qrAsSvg(owntracksLink(configuration)), { mode: 0o600 })
      return 0
    },
  }
}

function vanOf(positionals: readonly string[]): string {
  const [van] = positionals
  if (van === undefined || positionals.length > 1) throw new CommandError('say the id of one van')
  checkVanId(van)
  return van
}

export const vanAdd = issuing({ word: 'add', summary: 'let a van publish: an account at the MQTT broker', mustExist: false })
export const vanRotate = issuing({ word: 'rotate', summary: 'give a van a new password; the old one ends', mustExist: true })

export const vanRemove: Command = {
  words: ['van', 'remove'],
  summary: "end a van's account at the MQTT broker",
  help: `km0 van remove ID\n\n  Its positions and its row in the register stay.\n  ${TAKES}`,
  run: async (args) => {
    const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true })
    const van = vanOf(positionals)
    if (!new BrokerAccounts(accountsFolder(process.env)).remove(van)) throw new CommandError(`${van} has no account`)
    reloadBroker(process.env)
    process.stdout.write(`${van} may not connect any more\n`)
    return 0
  },
}

export const vanList: Command = {
  words: ['van', 'list'],
  summary: 'who has an account at the MQTT broker',
  help: `km0 van list\n\n  One name a line, those of our own programs (km0-…) too.\n  ${TAKES}`,
  run: async (args) => {
    parseArgs({ args: [...args], options: {} })
    for (const name of new BrokerAccounts(accountsFolder(process.env)).names()) process.stdout.write(`${name}\n`)
    return 0
  },
}
