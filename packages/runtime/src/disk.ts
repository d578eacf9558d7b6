import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Gauge, type Registry } from 'prom-client'
import { z } from 'zod'
import type { Health } from './health.ts'
import type { Logger } from './logger.ts'

/** Settings of whoever watches the disk under its folders. */
export const diskEnvironment = z.object({
  /** From so much of a disk used on it is said: on the page of operations, in the log, and by the alert DiskFilling. */
  KM0_DISK_ALARM_SHARE: z.coerce.number().gt(0).max(1).default(0.8),
  /** Folders of others to watch too, such as Kafka's and PostgreSQL's: `name=folder`, comma separated. */
  KM0_DISK_WATCH: z
    .string()
    .default('')
    .transform((text, context) => {
      const folders = new Map<string, string>()
      for (const entry of text.split(',').map((part) => part.trim())) {
        if (entry === '') continue
        const [, name, folder] = /^([\w-]+)=(.+)$/.exec(entry) ?? []
        if (name === undefined || folder === undefined) context.addIssue({ code: 'custom', message: `${entry} is not name=folder` })
        else folders.set(name, folder)
      }
      return folders
    }),
})

const EVERY_MS = 30_000
/** From here on a program is not well: the next megabytes may be refused. */
const ALMOST_FULL = 0.95

export interface DiskProgram {
  readonly settings: z.infer<typeof diskEnvironment>
  readonly log: Logger
  readonly metrics: Registry
  readonly health: Health
}

/** How a disk is said to be filling, in the words of a health part. */
export const DISK_FILLING = 'of its disk is used'

/**
 * Measures how full the disks under `folders` (by name) are, now and every 30 s. A place that is no folder of this machine (`s3://…`, undefined)
 * is left out, one that is not made yet is measured where it will be. Resolves after the first time to what stops it.
 */
export async function watchDisk(
  program: DiskProgram,
  folders: Readonly<Record<string, string | undefined>>,
  usedOf: (folder: string) => Promise<number | null> = usedShare,
): Promise<{ close(): void }> {
  const { KM0_DISK_ALARM_SHARE: alarm, KM0_DISK_WATCH: others } = program.settings
  const watched = [...Object.entries(folders), ...others].filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !/^\w+:\/\//.test(entry[1]),
  )
  if (watched.length === 0) return { close: () => undefined }
  const ratio = new Gauge({
    name: 'km0_disk_used_ratio',
    help: 'Share of the disk under a folder that is used, as df has it',
    labelNames: ['folder'],
    registers: [program.metrics],
  })
  const shares = new Map<string, number>()
  const measure = async () => {
    for (const [name, folder] of watched) {
      const used = await usedOf(folder)
      if (used === null) continue
      const before = shares.get(name) ?? 0
      shares.set(name, used)
      ratio.set({ folder: name }, used)
      if (used >= alarm && before < alarm) program.log.warn({ place: folder, detail: percent(used) }, 'the disk under a folder fills up')
    }
  }
  program.health.register('disk', () => {
    const filling = [...shares].filter(([, used]) => used >= alarm)
    if (filling.length === 0) return { status: 'ok' }
    const detail = filling.map(([name, used]) => `${name}: ${percent(used)} ${DISK_FILLING}`).join('; ')
    return { status: filling.some(([, used]) => used >= ALMOST_FULL && used > alarm) ? 'degraded' : 'ok', detail }
  })
  await measure()
  const timer = setInterval(() => void measure(), EVERY_MS)
  timer.unref()
  return { close: () => clearInterval(timer) }
}

const percent = (share: number) => `${Math.round(share * 100)} %`

/** As `df` counts: what is kept for the system counts neither as used nor as free. Null where it cannot be asked. */
async function usedShare(folder: string): Promise<number | null> {
  for (let place = folder; ; place = dirname(place)) {
    try {
      const { blocks, bfree, bavail } = await statfs(place)
      const used = blocks - bfree
      return used + bavail === 0 ? null : used / (used + bavail)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(place) === place) return null
    }
  }
}
