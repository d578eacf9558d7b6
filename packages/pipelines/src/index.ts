export { finiteOrNull, linesOf, readEnvelope, type SnapshotIdentity } from '@km0/windowing'
export { HeartbeatWatch } from './heartbeat-watch.ts'
export { batteryOf } from './positions/battery.ts'
export { markText } from './positions/mark.ts'
export { POSITIONS_TOPICS } from './positions/output-topics.ts'
export { batchNeedsFromMs, createPositionsBatch } from './positions/positions-batch.ts'
export { createPositionsHost } from './positions/positions-host.ts'
export { repartitionTasks } from './positions/repartition.ts'
export { splitTask } from './positions/task-state.ts'
export { createStockBatch } from './stock/stock-batch.ts'
export { createStockHost } from './stock/stock-host.ts'
export type { ShuffleSnapshot } from './stock-shuffle/shuffle-snapshot.ts'
export { type ShuffleOutput, ShuffleTask } from './stock-shuffle/shuffle-task.ts'
export { stockMarkText } from './stock-shuffle/stock-mark.ts'
export { STOCK_WINDOWS_PIPELINE } from './stock-shuffle/windows-snapshot.ts'
export {
  SHUFFLED_FLAGS,
  type StockRules,
  StockWindowsTask,
  type WindowsEmission,
} from './stock-shuffle/windows-task.ts'
export { STOCK_WINDOWS_TOPICS } from './stock-shuffle/windows-topics.ts'
