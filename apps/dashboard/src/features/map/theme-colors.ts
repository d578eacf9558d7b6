import type { IconColors, PointColors } from './icons.ts'
import type { OverlayColors } from './overlay.ts'

/** How much larger than usual text is on this screen: a wall is read from afar. */
export function textScale(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16
}

/** Colours of the theme in force, from the page's CSS variables: one source for lists and map. */
export function readColors(): {
  readonly icons: IconColors
  readonly overlay: OverlayColors
  readonly points: PointColors
} {
  const style = getComputedStyle(document.documentElement)
  const read = (name: string) => style.getPropertyValue(name).trim()
  const halo = read('--surface')
  return {
    icons: {
      moving: read('--moving'),
      stopped: read('--stopped'),
      silent: read('--silent'),
      provisional: read('--provisional'),
      faint: read('--text-faint'),
      halo,
      onSilent: '#ffffff',
    },
    overlay: {
      text: read('--text'),
      halo,
      accent: read('--accent'),
      silent: read('--silent-text'),
      soft: read('--text-soft'),
      moving: read('--moving'),
      surface: read('--surface'),
    },
    points: { accepted: read('--moving'), late: read('--episode'), refused: read('--silent'), halo },
  }
}
