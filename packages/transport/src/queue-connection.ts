import { Redis } from 'ioredis'

/** BullMQ's workers need a connection that never gives up on a command. As an ES module BullMQ cannot load the client by itself. */
export const connectionOf = (redisUrl: string) => new Redis(redisUrl, { maxRetriesPerRequest: null })
