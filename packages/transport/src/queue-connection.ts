import { Redis } from 'ioredis'
import { redisAddress } from './address.ts'

/** BullMQ's workers need a connection that never gives up on a command. As an ES module BullMQ cannot load the client by itself. */
export function connectionOf(redisUrl: string): Redis {
  const [url, secured] = redisAddress(redisUrl)
  return new Redis(url, { ...secured, maxRetriesPerRequest: null })
}
