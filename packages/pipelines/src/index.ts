export { batchNeedsFromMs, createPositionsBatch } from './positions/positions-batch.ts'
export { createPositionsHost } from './positions/positions-host.ts'
export { createStockBatch } from './stock/stock-batch.ts'
export { createStockHost } from './stock/stock-host.ts'
