import { once } from 'node:events'
import { stockSettings } from './run-stock.ts'
import type { StockRun } from './stock-options.ts'
import { stockStream } from './stock-stream.ts'

/** Writes records as JSON lines `{"timestamp","key","value","kind"}` to standard output: the span asked for, or a minute from now. */
export async function printStock(command: StockRun, nowMs: number): Promise<void> {
  const { startMs, durationMs } = command.span ?? { startMs: nowMs, durationMs: 60_000 }
  for (const { arrivalMs, key, value, kind } of stockStream(stockSettings(command, startMs), startMs)) {
    if (arrivalMs >= startMs + durationMs) return
    if (!process.stdout.write(`${JSON.stringify({ timestamp: arrivalMs, key, value, kind })}\n`)) await once(process.stdout, 'drain')
  }
}
