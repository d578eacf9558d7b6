import type { LakeTrackPoint } from '@km0/contracts'
import { readTrackPoints } from '@km0/lake'
import type { BackfillContext } from './context.ts'

/** Points at most, evenly taken, so that a day of a van stays a small message. */
const MOST_POINTS = 5_000

/** The track of a van as the lake has it, late points included, in event order. */
export async function track(
  { lake }: BackfillContext,
  query: { readonly van: string; readonly fromMs: number; readonly toMs: number; readonly snapshot?: number | undefined },
): Promise<LakeTrackPoint[]> {
  const points = await readTrackPoints(lake, query)
  const step = Math.ceil(points.length / MOST_POINTS)
  return step <= 1 ? points : points.filter((_, index) => index % step === 0)
}
