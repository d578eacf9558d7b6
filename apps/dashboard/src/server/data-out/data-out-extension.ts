import { openDataOut, openLatenessHours, type PoolOptions } from '@km0/serving'
import type { MaskingState } from '../masking/masking-state.ts'
import { OperationsExtension, type OperationsOptions } from '../operations/operations-extension.ts'
import type { PanelExtension } from '../panel-server.ts'
import { EventStreams } from './event-stream.ts'
import { type ExportsOptions, exportsRoutes } from './exports-rest.ts'
import { openApiRoutes } from './open-api-rest.ts'
import { type SubscriptionsOptions, subscriptionsRoutes } from './subscriptions-rest.ts'

/** How the platform is, and what leaves it: operations, exports, events, subscriptions, the description of the interface. */
export function openDataOutExtensions(
  given: Omit<OperationsOptions, 'lateness'> &
    ExportsOptions &
    Pick<SubscriptionsOptions, 'silenceStepsMs' | 'secrets'> & {
      readonly state: Pick<MaskingState, 'eventFor'>
      readonly storeOptions: (use: string) => PoolOptions
      readonly onTrouble: (error: unknown, what: string) => void
    },
): { readonly extensions: readonly PanelExtension[]; close(): Promise<void> } {
  const store = openDataOut({ ...given.storeOptions('-data-out'), maxConnections: 3 })
  const lateness = openLatenessHours({ ...given.storeOptions('-operations'), maxConnections: 1 })
  const operations = new OperationsExtension({ ...given, lateness })
  const streams = new EventStreams({ store, state: given.state, onTrouble: (error) => given.onTrouble(error, 'events could not be read') })
  const routes = new Map([
    ...exportsRoutes(given),
    ...subscriptionsRoutes({ ...given, store, channels: () => operations.channels() }),
    ...openApiRoutes(),
  ])
  return {
    extensions: [operations, { routes }, { routes: streams.routes, stop: () => streams.stop() }],
    close: async () => {
      await Promise.all([store.close(), lateness.close()])
    },
  }
}
