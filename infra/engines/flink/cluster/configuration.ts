import { join } from 'node:path'

export interface Ports {
  readonly rest: number
  readonly rpc: number
  readonly blob: number
}

/** Seen to be enough for 140 vans a slot; more vans need more heap. */
export const HEAP_MIB = 768

/** Java 17 opens these to nobody unless told to. */
export const OPENS = [
  'java.base/java.util',
  'java.base/java.lang',
  'java.base/java.net',
  'java.base/java.io',
  'java.base/java.nio',
  'java.base/java.text',
  'java.base/java.time',
  'java.base/java.util.concurrent',
  'java.base/java.util.concurrent.atomic',
  'java.base/java.util.concurrent.locks',
  'java.base/java.lang.invoke',
  'java.base/java.lang.reflect',
  'java.base/sun.net.util',
  'java.base/sun.nio.ch',
].map((name) => `--add-opens=${name}=ALL-UNNAMED`)

/** Text of a config.yaml: one line a setting. */
export function yamlOf(settings: Readonly<Record<string, string | number | boolean>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('')
}

/** What both kinds of process read; everything listens on 127.0.0.1. */
function shared(folder: string, ports: Ports): Record<string, string | number | boolean> {
  return {
    'jobmanager.rpc.address': '127.0.0.1',
    'jobmanager.rpc.port': ports.rpc,
    'blob.server.port': ports.blob,
    'rest.address': '127.0.0.1',
    'rest.port': ports.rest,
    'heartbeat.interval': '2 s',
    'heartbeat.timeout': '10 s',
    'execution.checkpointing.storage': 'filesystem',
    'execution.checkpointing.dir': `file://${join(folder, 'checkpoints')}`,
    'execution.checkpointing.savepoint-dir': `file://${join(folder, 'savepoints')}`,
    'execution.checkpointing.num-retained': 2,
  }
}

export function jobManagerSettings(folder: string, ports: Ports) {
  return {
    ...shared(folder, ports),
    'jobmanager.bind-host': '127.0.0.1',
    'rest.bind-address': '127.0.0.1',
    'rest.bind-port': ports.rest,
    'web.upload.dir': join(folder, 'uploads'),
    'io.tmp.dirs': join(folder, 'jobmanager-tmp'),
    'jobmanager.memory.process.size': '1280m',
  }
}

/** Without Flink's shell scripts nobody reckons the parts of a TaskManager's memory: all are spelled out, and the JVM is told the same. */
export function taskManagerSettings(folder: string, ports: Ports, name: string, slots: number) {
  return {
    ...shared(folder, ports),
    'taskmanager.bind-host': '127.0.0.1',
    'taskmanager.host': '127.0.0.1',
    'taskmanager.resource-id': name,
    'taskmanager.numberOfTaskSlots': slots,
    'taskmanager.cpu.cores': slots,
    'taskmanager.memory.framework.heap.size': '128m',
    'taskmanager.memory.task.heap.size': `${HEAP_MIB - 128}m`,
    'taskmanager.memory.framework.off-heap.size': '64m',
    'taskmanager.memory.task.off-heap.size': '64m',
    'taskmanager.memory.network.min': '64m',
    'taskmanager.memory.network.max': '64m',
    'taskmanager.memory.managed.size': '128m',
    'taskmanager.memory.jvm-metaspace.size': '256m',
    'taskmanager.memory.jvm-overhead.min': '128m',
    'taskmanager.memory.jvm-overhead.max': '128m',
    'io.tmp.dirs': join(folder, `${name}-tmp`),
  }
}
