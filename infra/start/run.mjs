import { spawn } from 'node:child_process'

const KEPT_CHARACTERS = 200_000
const SHOWN_CHARACTERS = 8_000

/**
 * Runs a program to its end without showing what it says, unless it fails: then the Error carries the last of it.
 * @param {string} command
 * @param {readonly string[]} words
 * @param {{cwd: string, environment?: NodeJS.ProcessEnv}} options
 * @returns {Promise<string>} Its standard output.
 */
export function run(command, words, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { cwd: options.cwd, env: options.environment ?? process.env, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output = (output + text).slice(-KEPT_CHARACTERS)
    })
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        said = (said + text).slice(-KEPT_CHARACTERS)
      })
    }
    child.once('error', (error) => reject(new Error(`cannot run ${command}: ${error.message}`)))
    child.once('close', (code, signal) => {
      if (code === 0) resolve(output)
      else reject(new Error(`${command} ${words.join(' ')} ended with ${signal ?? `exit ${code}`}:\n${said.slice(-SHOWN_CHARACTERS)}`))
    })
  })
}
