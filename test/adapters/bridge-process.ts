import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type LogRecord, openLog } from '@km0/transport'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Bundles the bridge from its sources. */
export function buildBridge(): void {
  execFileSync(process.execPath, ['infra/build.mjs', 'apps/bridge'], { cwd: root, stdio: 'inherit' })
}

export async function until(what: string, condition: () => boolean | Promise<boolean>, timeoutMs = 30_000): Promise<void> {
  const endMs = Date.now() + timeoutMs
  while (!(await condition())) {
    if (Date.now() > endMs) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The real program as a process of its own. */
export class BridgeProcess {
  readonly #child: ChildProcess
  readonly #exited: Promise<number | null>
  output = ''
  #port = 0

  private constructor(environment: Readonly<Record<string, string>>) {
    this.#child = spawn(process.execPath, ['--enable-source-maps', 'apps/bridge/dist/main.js'], {
      cwd: root,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const collect = (chunk: Buffer) => {
      this.output += chunk.toString()
      this.#port ||= Number(/"port":(\d+),"msg":"health and metrics"/.exec(this.output)?.[1] ?? 0)
    }
    this.#child.stdout?.on('data', collect)
    this.#child.stderr?.on('data', collect)
    this.#exited = new Promise((resolve) => this.#child.once('exit', (code) => resolve(code)))
  }

  /** Starts it and waits until it is subscribed and has read the log; `wait: false` only until it answers. */
  static async start(environment: Readonly<Record<string, string>>, { wait = true } = {}): Promise<BridgeProcess> {
    const bridge = new BridgeProcess(environment)
    await until('the bridge answers', () => bridge.#port !== 0)
    if (wait) await until('the bridge is subscribed', async () => (await bridge.metric('mqtt_connected')) === 1)
    if (wait) await until('the bridge has read the log', () => bridge.output.includes('log read'))
    return bridge
  }

  /** Value of a metric `km0_bridge_<name>`, NaN when it is not there. */
  async metric(name: string, labels = ''): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.#port}/metrics`)).text()
    const line = text.split('\n').find((row) => row.startsWith(`km0_bridge_${name}{`) && row.includes(labels))
    return Number(line?.split(' ').at(-1) ?? Number.NaN)
  }

  async health(): Promise<{ status: string; parts: Record<string, { status: string; detail?: string }> }> {
    return (await fetch(`http://127.0.0.1:${this.#port}/health`)).json() as ReturnType<BridgeProcess['health']>
  }

  /** Exit code, null when a signal ended it. */
  get exited(): Promise<number | null> {
    return this.#exited
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Stops it where it is (SIGSTOP) until `thaw`. */
  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child.kill('SIGCONT')
  }

  async stop(): Promise<number | null> {
    this.#child.kill('SIGTERM')
    return this.#exited
  }

  async kill9(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
  }
}

/** Everything that a topic holds now. */
export async function readAll(brokers: string, topic: string): Promise<LogRecord[]> {
  const log = openLog({ brokers: [brokers], clientId: 'prova' })
  const records: LogRecord[] = []
  for await (const batch of log.readTopic({ topic })) records.push(...batch.records)
  return records
}
