import { outageSpans } from '@km0/contracts/outage-spans'
import type { OutageSpan, OutageView } from '@km0/contracts/panel'

const DAY_MS = 86_400_000

/** The outages of the last day as they are told, newest first. */
export function prepareOutages(outages: readonly OutageView[], partitionCount: number, nowMs: number): OutageSpan[] {
  return outageSpans(
    outages.filter((outage) => outage.toMs > nowMs - DAY_MS),
    partitionCount,
  ).reverse()
}
