import { UsageError } from './options.ts'
import { printStock } from './stock/print-stock.ts'
import { runStock } from './stock/run-stock.ts'
import { parseStockCommand, STOCK_HELP, type StockCommand } from './stock/stock-options.ts'

function read(): StockCommand {
  try {
    return parseStockCommand(process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`stock: ${error.message}\nSee pnpm stock --help\n`)
    process.exit(2)
  }
}

// A reader that has seen enough (`| head`) is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
const command = read()
if (command.kind === 'help') process.stdout.write(STOCK_HELP)
else if (command.print) await printStock(command, Date.now())
else await runStock(command)
