import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isPortFree } from '@km0/infra/embedded/ports'
import { startServices } from '@km0/testkit/services'
import { expect, it } from 'vitest'

async function untilTrue(condition: () => boolean | Promise<boolean>, timeoutMs = 10_000): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs
  while (performance.now() < deadlineMs) {
    if (await condition()) return true
    await sleep(50)
  }
  return false
}

it('starts what is wanted only, names it in the environment, restarts it, and leaves nothing behind', async () => {
  const services = await startServices({ redis: true, mqtt: { maxQueuedMessages: 10 } })
  expect(Object.keys(services.environment).sort()).toEqual(['MQTT_URL', 'REDIS_URL'])
  expect(services.kafka).toBeUndefined()
  const { port, pid } = services.redis
  await services.redis.kill9()
  await services.restart('redis')
  expect(services.redis.port).toBe(port)
  expect(services.redis.pid).not.toBe(pid)
  await services.stop()
  expect(await isPortFree(port)).toBe(true)
  expect(await isPortFree(services.mqtt.port)).toBe(true)
  expect(existsSync(services.dataDir)).toBe(false)
})

it('stops services and removes their folder when the test process is killed', async () => {
  const program = `
    import { startServices } from '@km0/testkit/services'
    const services = await startServices({ redis: true, postgres: true })
    console.log(JSON.stringify({ dataDir: services.dataDir, ports: [services.redis.port, services.postgres.port] }))
    setInterval(() => {}, 1000)`
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const line = await new Promise<string>((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk))))
  const { dataDir, ports } = JSON.parse(line) as { dataDir: string; ports: number[] }
  expect(existsSync(dataDir)).toBe(true)
  child.kill('SIGKILL')
  for (const port of ports) expect(await untilTrue(() => isPortFree(port))).toBe(true)
  expect(await untilTrue(() => !existsSync(dataDir))).toBe(true)
})
