import type { StockSettings } from '@km0/contracts'

/** Below which stock an alert is emitted: of the product in the market, else of the product, else of the market, else the general one. */
export function thresholdOf(settings: StockSettings, product: string, market: string): number {
  const { thresholds, threshold } = settings
  return thresholds[`${product}|${market}`] ?? thresholds[`${product}|*`] ?? thresholds[`*|${market}`] ?? threshold
}

/** Checks all settings. Throws a RangeError that names the one that makes no sense. */
export function assertStockSettings(settings: StockSettings): void {
  for (const name of ['delayMs', 'allowedLatenessMs', 'maxFutureMs', 'maxAgeMs'] as const) {
    if (!Number.isSafeInteger(settings[name]) || settings[name] < 0) {
      throw new RangeError(`${name} is ${settings[name]}: it must be a whole number, 0 or more`)
    }
  }
  for (const [key, value] of [['threshold', settings.threshold] as const, ...Object.entries(settings.thresholds)]) {
    if (!Number.isFinite(value)) throw new RangeError(`${key} is ${value}: a threshold must be a number`)
    if (key !== 'threshold' && key.split('|').length !== 2)
      throw new RangeError(`threshold '${key}': write producte|mercat, producte|* or *|mercat`)
  }
}
