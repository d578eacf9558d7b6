// A whole platform for a test: the launcher as `npm start` runs it, without the install and build before it.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '@km0/infra/embedded/ports'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Services that a developer has exported must not be written to by tests. */
const OUTSIDE = ['KAFKA_BROKERS', 'DATABASE_URL', 'REDIS_URL', 'MQTT_URL']
/** Seen: 14 to 21 s on two cores; other work on the machine may triple it. */
const READY_WITHIN_MS = 120_000

export interface RunFile {
  readonly url: string
  readonly kafkaBrokers: string
  readonly databaseUrl: string
  readonly mqttUrl: string
}

export class PlatformUnderTest {
  readonly folder = mkdtempSync(join(tmpdir(), 'km0-platform-'))
  readonly #child: ChildProcess
  readonly #ended: Promise<number | null>
  #text = ''

  private constructor(words: readonly string[], environment: Readonly<Record<string, string>>) {
    const outer = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OUTSIDE.includes(name)))
    this.#child = spawn(process.execPath, [join('infra', 'dist', 'launcher.js'), '--data-dir', this.folder, ...words], {
      cwd: root,
      env: { ...outer, ...environment } as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.on('data', (chunk) => (this.#text += chunk))
    this.#ended = new Promise((resolve) => this.#child.once('exit', resolve))
  }

  /** Starts it on a free port and waits until it is ready. Rejects with all that it said when it is not. */
  static async start(
    words: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
    readyWithinMs = READY_WITHIN_MS,
  ): Promise<PlatformUnderTest> {
    const platform = new PlatformUnderTest(['--port', String(await freePort()), ...words], environment)
    try {
      await platform.until(() => /^Panel: http/m.test(platform.#text), readyWithinMs, 'it to be ready')
    } catch (error) {
      // Nobody else knows of it.
      await platform.stop()
      throw error
    }
    return platform
  }

  get said(): string {
    return this.#text
  }

  /** Where its services are. */
  addresses(): RunFile {
    const folders = [this.folder, ...readdirSync(this.folder).map((name) => join(this.folder, name))]
    const file = folders.map((folder) => join(folder, 'run.json')).find((path) => existsSync(path))
    if (file === undefined) throw new Error(`no run.json below ${this.folder}`)
    return JSON.parse(readFileSync(file, 'utf8')) as RunFile
  }

  /** Journal of its fleet or player. */
  journal(): string {
    const found = readdirSync(this.folder, { recursive: true, encoding: 'utf8' }).find((name) =>
      name.endsWith(join('fleet', 'journal.jsonl')),
    )
    if (found === undefined) throw new Error(`no journal below ${this.folder}`)
    return join(this.folder, found)
  }

  /** Log of a part, '' before its first line. */
  logOf(part: string): string {
    const folders = [this.folder, ...readdirSync(this.folder).map((name) => join(this.folder, name))]
    const file = folders.map((folder) => join(folder, 'logs', `${part}.log`)).find((path) => existsSync(path))
    return file === undefined ? '' : readFileSync(file, 'utf8')
  }

  async until(met: () => boolean | Promise<boolean>, withinMs: number, what: string): Promise<void> {
    const deadlineMs = performance.now() + withinMs
    while (!(await met())) {
      if (this.#child.exitCode !== null || performance.now() > deadlineMs) throw new Error(`waited in vain for ${what}:\n${this.#text}`)
      await sleep(100)
    }
  }

  /** Process ids of a part: those whose command line holds all of `words` and whose environment is ours. */
  pidsOf(...words: readonly string[]): number[] {
    return readdirSync('/proc')
      .filter((pid) => /^\d+$/.test(pid))
      .filter((pid) => {
        try {
          const command = readFileSync(join('/proc', pid, 'cmdline'), 'utf8')
          return words.every((word) => command.includes(word)) && readFileSync(join('/proc', pid, 'environ'), 'utf8').includes(this.folder)
        } catch {
          return false
        }
      })
      .map(Number)
  }

  /** Runs one of the commands for people against it. Resolves to exit code and output. */
  async command(bundle: string, ...words: readonly string[]): Promise<{ readonly code: number | null; readonly text: string }> {
    const { kafkaBrokers, databaseUrl, mqttUrl } = this.addresses()
    const child = spawn(process.execPath, [join('packages', 'cli', 'dist', bundle), ...words], {
      cwd: root,
      env: { ...process.env, KAFKA_BROKERS: kafkaBrokers, DATABASE_URL: databaseUrl, MQTT_URL: mqttUrl },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (text += chunk))
    return new Promise((resolve) => child.once('close', (code) => resolve({ code, text })))
  }

  /** Headers of a program that may read the panel's REST and sockets. */
  async tokenHeaders(): Promise<{ authorization: string }> {
    const { code, text } = await this.command('km0.js', 'user', 'token', '--name', 'test')
    const token = /^km0t_\S+$/m.exec(text)?.[0]
    if (code !== 0 || token === undefined) throw new Error(`no token:\n${text}`)
    return { authorization: `Bearer ${token}` }
  }

  /** Token of the one-time link that it printed for its administrator. */
  linkToken(): string {
    const token = /^Sign in, once: \S+#(\S+)$/m.exec(this.#text)?.[1]
    if (token === undefined) throw new Error(`no link:\n${this.#text}`)
    return token
  }

  /** Stops it in order and removes its data. */
  async stop(): Promise<void> {
    if (this.#child.exitCode === null) this.#child.kill('SIGTERM')
    await this.#ended
    rmSync(this.folder, { recursive: true, force: true })
  }
}
