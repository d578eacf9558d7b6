import type { StockServing } from '@km0/serving'
import type { PanelExtension } from '../panel-server.ts'
import { StockHub } from './stock-hub.ts'
import { stockRoutes } from './stock-rest.ts'

/** Stock on the panel's server. Stock is on the machine's clock, whoever plays a recording of vans. */
export function stockExtension(
  serving: Pick<StockServing, 'read' | 'readHistory' | 'acknowledge'>,
  onTrouble: (error: unknown) => void,
  nowMs: () => number = Date.now,
): PanelExtension {
  const hub = new StockHub({
    read: (scope, options) => serving.read(scope, options),
    nowMs,
    onTrouble,
  })
  return {
    routes: stockRoutes({ serving, nowMs, onStored: () => void hub.refresh() }),
    attach: (sockets) => hub.attach(sockets),
    stop: () => hub.stop(),
  }
}
