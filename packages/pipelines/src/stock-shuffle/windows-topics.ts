import { TOPICS } from '@km0/contracts'
import type { WindowsOutput } from './windows-task.ts'

/** Topic of each output of the stock windows, for every host. */
export const STOCK_WINDOWS_TOPICS: Readonly<Record<WindowsOutput, string>> = {
  alertes: TOPICS.stockAlerts.name,
  tardans: TOPICS.stockLate.name,
  rebutjats: TOPICS.stockDeadLetters.name,
  viu: TOPICS.stockLive.name,
  episodis: TOPICS.stockEpisodes.name,
}
