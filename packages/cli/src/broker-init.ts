import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { BrokerAccounts, newSecret, OWN_ACCOUNTS } from './broker-accounts.ts'
import { accountsFolder } from './broker-open.ts'
import { type Command, CommandError } from './command.ts'

const text = { type: 'string' } as const

export const brokerInit: Command = {
  words: ['broker', 'init'],
  summary: "make the MQTT broker's password file, access list and the accounts of our own programs",
  help: `km0 broker init --address HOST:PORT --bridge FILE [--demo FILE]

  Writes passwords and acl into the folder that KM0_BROKER_ACCOUNTS names, for mosquitto's password_file and acl_file. FILE takes the address
  with name and password under which the bridge, or the demo fleet, connects (MQTT_URL); where it is there already, that account stays as it is.`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { address: text, bridge: text, demo: text } })
    if (!/^[^\s:/@]+:\d+$/.test(values.address ?? '') || values.bridge === undefined)
      throw new CommandError('say --address HOST:PORT and --bridge FILE')
    const folder = accountsFolder(process.env)
    const accounts = new BrokerAccounts(folder)
    accounts.prepare()
    for (const role of ['bridge', 'demo'] as const) {
      const [file, name] = [values[role], OWN_ACCOUNTS[role]]
      if (file === undefined || (existsSync(file) && accounts.names().includes(name))) continue
      const secret = newSecret()
      accounts.set(name, secret)
      writeFileSync(file, `mqtt://${name}:${secret}@${values.address}\n`, { mode: 0o600 })
    }
    process.stdout.write(`${join(folder, 'passwords')}\n${join(folder, 'acl')}\n`)
    return 0
  },
}
