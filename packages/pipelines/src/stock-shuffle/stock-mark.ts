import type { StockMarkValue } from '@km0/contracts'
import { finiteOrNull } from '@km0/windowing'
import type { StockWindowsTask } from './windows-task.ts'

/** How far a partition of the shuffle's topic has come, as the value of a record of the topic of marks: JSON text, the same from every host. */
export function stockMarkText(partition: number, epoch: number, nextOffset: number, task: StockWindowsTask): string {
  const value: StockMarkValue = {
    particio: partition,
    offset: nextOffset,
    marca_aigua_ms: finiteOrNull(task.watermarkMs),
    fonts_ms: Array.from({ length: task.sourcePartitions }, (_, source) => finiteOrNull(task.sourceWatermarkMs(source))),
    darrera_arribada_ms: task.arrivalMs,
    epoca: epoch,
  }
  return JSON.stringify(value)
}
