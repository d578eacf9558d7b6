import { faultTable, HELP } from './help.ts'
import { type Command, parseCommand, UsageError } from './options.ts'
import { printFleet } from './print.ts'
import { registerCsv } from './register.ts'
import { runFleet } from './run-fleet.ts'
import { runPlay } from './run-play.ts'

async function run(command: Command): Promise<void> {
  switch (command.kind) {
    case 'help':
      process.stdout.write(HELP)
      return
    case 'list-faults':
      process.stdout.write(faultTable())
      return
    case 'register':
      process.stdout.write(registerCsv(command.which, command.vans, command.hours))
      return
    case 'play':
      return runPlay(command)
    case 'fleet':
      return command.print === null ? runFleet(command) : printFleet(command, command.print)
  }
}

function read(): Command {
  try {
    return parseCommand(process.argv.slice(2), Date.now())
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`fleet: ${error.message}\nSee pnpm fleet --help\n`)
    process.exit(2)
  }
}

// A reader that has seen enough (`| head`) is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
await run(read())
