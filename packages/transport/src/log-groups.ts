import type { Admin } from 'kafkajs'
import { LogRefusedError } from './log-errors.ts'
import { countPartitions } from './log-topics.ts'

/** How many members a group has; none when there is no such group. */
export async function countMembers(admin: Admin, groupId: string): Promise<number> {
  const { groups } = await admin.describeGroups([groupId])
  return groups.reduce((sum, { members }) => sum + members.length, 0)
}

/** Deletes groups and their places. Throws LogRefusedError while one has members. */
export async function deleteGroups(admin: Admin, groupIds: readonly string[]): Promise<void> {
  const { groups } = await admin.listGroups()
  const known = groupIds.filter((groupId) => groups.some((group) => group.groupId === groupId))
  if (known.length === 0) return
  const { groups: described } = await admin.describeGroups(known)
  const busy = described.filter(({ members }) => members.length > 0).map(({ groupId }) => groupId)
  if (busy.length > 0) throw new LogRefusedError(`${busy.join(' and ')} still has members`, 'NON_EMPTY_GROUP')
  await admin.deleteGroups(known)
}

/** Sets the places of a group that nobody is in. Throws LogRefusedError while it has members. */
export async function setOffsets(admin: Admin, groupId: string, topic: string, offsets: ReadonlyMap<number, number>): Promise<void> {
  if ((await countMembers(admin, groupId)) > 0) throw new LogRefusedError(`${groupId} still has members`, 'NON_EMPTY_GROUP')
  const partitions = [...offsets].map(([partition, offset]) => ({ partition, offset: String(offset) }))
  await admin.setOffsets({ groupId, topic, partitions })
}

/** Gives a topic at least so many partitions: new ones begin empty, the others stay as they are. Returns how many it has. */
export async function growTopic(admin: Admin, topic: string, partitions: number): Promise<number> {
  const has = (await countPartitions(admin, [topic])).get(topic) ?? 0
  if (has >= partitions) return has
  await admin.createPartitions({ topicPartitions: [{ topic, count: partitions }] })
  return partitions
}
