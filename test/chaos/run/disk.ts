import { spawnSync } from 'node:child_process'
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const MIB = 1024 * 1024
const SIZE_MIB = 64

/**
 * A folder that can be filled. Where mounting is allowed (root) it is a small disk of its own and `fill` leaves not one byte on it: every
 * write fails with ENOSPC. For another user `fill` takes away the right to write into it, and every write fails with EACCES.
 */
export class Disk {
  readonly folder: string
  readonly kind: 'tmpfs' | 'read-only' | 'none'

  constructor(folder: string) {
    this.folder = folder
    mkdirSync(folder, { recursive: true })
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MIB}m,mode=700`, 'km0-chaos', folder])
    this.kind = mounted.status === 0 ? 'tmpfs' : process.getuid?.() === 0 ? 'none' : 'read-only'
  }

  /** Writes until there is no room for another byte. */
  fill(): void {
    if (this.kind === 'read-only') this.#setMode(0o500)
    if (this.kind !== 'tmpfs') return
    const file = openSync(join(this.folder, 'filler'), 'w')
    for (let bytes = MIB; bytes >= 1; ) {
      try {
        if (writeSync(file, Buffer.alloc(bytes)) < bytes) bytes = Math.floor(bytes / 2)
      } catch {
        bytes = Math.floor(bytes / 2)
      }
    }
    closeSync(file)
  }

  free(): void {
    if (this.kind === 'read-only') this.#setMode(0o700)
    rmSync(join(this.folder, 'filler'), { force: true })
  }

  #setMode(mode: number): void {
    const below = readdirSync(this.folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isDirectory())
    for (const folder of [this.folder, ...below.map(({ parentPath, name }) => join(parentPath, name))]) chmodSync(folder, mode)
  }

  close(): void {
    if (this.kind === 'tmpfs') spawnSync('umount', ['--lazy', this.folder])
  }
}
