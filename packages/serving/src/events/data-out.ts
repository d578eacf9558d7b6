import type { DeliveryView, Period, PlatformEvent, Scope, SubscriptionView } from '@km0/contracts'
import { Pool, type PoolOptions } from '../pool.ts'
import {
  addDeliveries,
  type DeliveryJob,
  forgetDeliveries,
  type HandOutOptions,
  handOutEvents,
  listDeliveries,
  noteTry,
  readDelivery,
  readReportTimes,
  sendAgain,
  takeWaiting,
} from './deliveries.ts'
import { type EventQuery, findEvent, newestEvent, readEvents } from './read-events.ts'
import { type DaySilences, readDaySilences } from './read-report.ts'
import { createSubscription, listSubscriptions, type NewSubscription, removeSubscription, type Viewer } from './subscriptions.ts'

/** Events and who gets them. Every method rejects with ServingUnavailableError while PostgreSQL is away. The schema is `Serving.migrate`'s. */
export class DataOut {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  readEvents(scope: Scope, query: EventQuery): Promise<PlatformEvent[]> {
    return readEvents(this.#pool, scope, query)
  }

  findEvent(scope: Scope, key: string): Promise<number | null> {
    return findEvent(this.#pool, scope, key)
  }

  newestEvent(beforeMs: number | null = null): Promise<number> {
    return newestEvent(this.#pool, beforeMs)
  }

  readDaySilences(scope: Scope, day: Period): Promise<DaySilences[]> {
    return readDaySilences(this.#pool, scope, day)
  }

  createSubscription(given: NewSubscription): Promise<SubscriptionView> {
    return createSubscription(this.#pool, given)
  }

  listSubscriptions(viewer: Viewer): Promise<SubscriptionView[]> {
    return listSubscriptions(this.#pool, viewer)
  }

  removeSubscription(viewer: Viewer, id: number, nowMs: number): Promise<boolean> {
    return removeSubscription(this.#pool, viewer, id, nowMs)
  }

  handOutEvents(given: HandOutOptions): Promise<number> {
    return handOutEvents(this.#pool, given)
  }

  readReportTimes() {
    return readReportTimes(this.#pool)
  }

  addDeliveries(rows: Parameters<typeof addDeliveries>[1], nowMs: number): Promise<void> {
    return addDeliveries(this.#pool, rows, nowMs)
  }

  takeWaiting(given: Parameters<typeof takeWaiting>[1]) {
    return takeWaiting(this.#pool, given)
  }

  readDelivery(id: number, round: number): Promise<DeliveryJob | null> {
    return readDelivery(this.#pool, id, round)
  }

  noteTry(job: { readonly id: number; readonly round: number }, outcome: Parameters<typeof noteTry>[2]): Promise<void> {
    return noteTry(this.#pool, job, outcome)
  }

  sendAgain(viewer: Viewer, id: number): Promise<boolean> {
    return sendAgain(this.#pool, viewer, id)
  }

  listDeliveries(viewer: Viewer, limit: number): Promise<DeliveryView[]> {
    return listDeliveries(this.#pool, viewer, limit)
  }

  forget(beforeMs: number): Promise<void> {
    return forgetDeliveries(this.#pool, beforeMs)
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

/** Opens the store of events and deliveries. Connects at the first use. */
export function openDataOut(options: PoolOptions): DataOut {
  return new DataOut(new Pool(options))
}
