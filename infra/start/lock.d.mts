/** What is known of the platform that runs on a data folder. */
export interface Running {
  pid: number
  startTicks: string | null
  url: string | null
}
export function whoRuns(folder: string): Running | null
export function takeLock(folder: string): Running | null
export function announce(
  folder: string,
  what: { url?: string; kafkaBrokers?: string; databaseUrl?: string; redisUrl?: string; mqttUrl?: string },
): void
export function releaseLock(folder: string): void
