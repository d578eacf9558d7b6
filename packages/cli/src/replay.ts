// `replay`: results of a log, offline. It starts in a fraction of a second: keep its imports few.
import { once } from 'node:events'
import { HELP, parseOptions, ReplayError } from './replay-options.ts'
import { replay } from './replay-run.ts'

async function writeAll(stream: NodeJS.WriteStream, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain')
}

// Whoever reads the results may stop, as `head` does: that is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
})

try {
  const options = parseOptions(process.argv.slice(2))
  if (options === null) {
    await writeAll(process.stdout, HELP)
  } else {
    await replay(options, {
      input: process.stdin,
      write: (text) => writeAll(process.stdout, text),
      explain: (text) => writeAll(process.stderr, text),
    })
  }
} catch (error) {
  if (!(error instanceof ReplayError)) throw error
  process.stderr.write(`replay: ${error.message}\n`)
  process.exitCode = 2
}
