import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Bundles the stream job and `verify` from their sources. */
export function buildStream(): void {
  execFileSync(process.execPath, ['infra/build.mjs', 'apps/stream', 'cli/src/verify'], { cwd: root, stdio: 'inherit' })
}

export async function until(what: string, condition: () => boolean | Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  const endMs = Date.now() + timeoutMs
  while (!(await condition())) {
    if (Date.now() > endMs) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** A role of the real program as a process of its own. */
export class StreamProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<number | null>
  output = ''
  #port = 0

  private constructor(role: string, environment: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, ['--enable-source-maps', 'apps/stream/dist/main.js', '--role', role], {
      cwd: root,
      env: { ...process.env, KM0_HTTP_PORT: '0', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const collect = (chunk: Buffer) => {
      this.output += chunk.toString()
      this.#port ||= Number(/"port":(\d+)/.exec(this.output)?.[1] ?? 0)
    }
    this.#child.stdout?.on('data', collect)
    this.#child.stderr?.on('data', collect)
    this.#exited = new Promise((resolve) => this.#child.once('exit', (code) => resolve(code)))
  }

  /** Starts a role and waits until it is ready. */
  static async start(role: string, environment: Readonly<Record<string, string>>): Promise<StreamProcess> {
    const started = new StreamProcess(role, environment)
    await until(`role ${role} is ready`, () => started.#port !== 0).catch((error: unknown) => {
      throw new Error(`${error instanceof Error ? error.message : String(error)}\n${started.output}`)
    })
    return started
  }

  /** Starts a role that is expected to end by itself. Resolves with its exit code. */
  static async runToEnd(role: string, environment: Readonly<Record<string, string>>): Promise<{ code: number | null; output: string }> {
    const started = new StreamProcess(role, environment)
    const code = await started.#exited
    return { code, output: started.output }
  }

  /** Sum of the samples of a metric whose labels hold `labels`; 0 when there is none yet. */
  async metric(name: string, labels = ''): Promise<number> {
    // A connection that is kept may be closed by the other side just when it is used again.
    const text = await (await fetch(`http://127.0.0.1:${this.#port}/metrics`, { headers: { connection: 'close' } })).text()
    const rows = text.split('\n').filter((row) => row.startsWith(`${name}{`) && row.includes(labels))
    return rows.reduce((sum, row) => sum + Number(row.split(' ').at(-1)), 0)
  }

  async health(): Promise<{ status: string; parts: Record<string, { status: string; detail?: string }> }> {
    return (await fetch(`http://127.0.0.1:${this.#port}/health`, { headers: { connection: 'close' } })).json() as ReturnType<
      StreamProcess['health']
    >
  }

  async stop(): Promise<number | null> {
    this.#child.kill('SIGTERM')
    return this.#exited
  }

  /** Stops it where it is (SIGSTOP) until `thaw`. */
  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child.kill('SIGCONT')
  }

  async kill9(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
  }
}

/** Runs `verify`. Resolves with its exit code and what it printed. */
export function verify(environment: Readonly<Record<string, string>>, waitSeconds = 60): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['packages/cli/dist/verify.js', '--wait', String(waitSeconds)],
      { cwd: root, env: { ...process.env, ...environment } },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    )
  })
}
