import type { Emit } from './emit.ts'
import { PositionsEngine } from './positions-engine.ts'
import { StampEngine } from './stamp-engine.ts'
import { StockShuffleEngine, StockWindowsEngine } from './stock-engine.ts'
import { VanEngine } from './van-engine.ts'

/** What a foreign engine calls: infra/engines/README.md. Settings are JSON text, null for the defaults. */
export function createPositions(
  partition: number,
  epoch: number,
  settingsJson: string | null,
  outageAfterMs: number | null,
  emit: Emit,
): PositionsEngine {
  return new PositionsEngine(partition, epoch, settingsJson, outageAfterMs, emit)
}

export function createStamp(
  partition: number,
  epoch: number,
  settingsJson: string | null,
  outageAfterMs: number | null,
  emit: Emit,
): StampEngine {
  return new StampEngine(partition, epoch, settingsJson, outageAfterMs, emit)
}

export function createVan(partition: number, epoch: number, settingsJson: string | null, emit: Emit): VanEngine {
  return new VanEngine(partition, epoch, settingsJson, emit)
}

export function createStockShuffle(
  partition: number,
  epoch: number,
  targets: number,
  topic: string,
  settingsJson: string | null,
  firstNumber: number,
  emit: Emit,
): StockShuffleEngine {
  return new StockShuffleEngine(partition, epoch, targets, topic, settingsJson, firstNumber, emit)
}

export function createStockWindows(partition: number, epoch: number, settingsJson: string | null, emit: Emit): StockWindowsEngine {
  return new StockWindowsEngine(partition, epoch, settingsJson, emit)
}
