import type { PlatformEvent } from '@km0/contracts'

export type Locale = 'ca' | 'es' | 'en'

export interface MailText {
  readonly subject: string
  readonly text: string
}

interface Words {
  readonly silent: (van: string, minutes: number) => string
  readonly since: (time: string) => string
  readonly where: (place: string) => string
  readonly returned: (van: string, minutes: number) => string
  readonly corrected: (van: string, minutes: number, gap: string) => string
  readonly low: (product: string, market: string, stock: number) => string
  readonly threshold: (threshold: number) => string
  readonly over: (product: string, market: string) => string
  readonly minimum: (minimum: number) => string
  readonly report: (day: string) => string
  readonly reportText: string
  readonly test: string
  readonly key: string
}

const WORDS: Readonly<Record<Locale, Words>> = {
  ca: {
    silent: (van, minutes) => `${van}: sense senyal, ${minutes} min`,
    since: (time) => `Des de: ${time}.`,
    where: (place) => `Última posició: ${place}.`,
    returned: (van, minutes) => `${van}: torna a tenir senyal, després de ${minutes} min`,
    corrected: (van, minutes, gap) => `${van}: llavors ${minutes} min de silenci; ara se’n sap un buit de ${gap}, que va arribar tard`,
    low: (product, market, stock) => `${product} a ${market}: en queden ${stock}`,
    threshold: (threshold) => `Llindar: ${threshold}.`,
    over: (product, market) => `${product} a ${market}: ja no és baix`,
    minimum: (minimum) => `El mínim va ser ${minimum}.`,
    report: (day) => `Informe del ${day}`,
    reportText: 'L’informe per furgoneta va adjunt, en CSV.',
    test: 'Prova: els avisos de Quilòmetre Zero arriben fins aquí.',
    key: 'Clau',
  },
  es: {
    silent: (van, minutes) => `${van}: sin señal, ${minutes} min`,
    since: (time) => `Desde: ${time}.`,
    where: (place) => `Última posición: ${place}.`,
    returned: (van, minutes) => `${van}: vuelve a tener señal, tras ${minutes} min`,
    corrected: (van, minutes, gap) => `${van}: entonces ${minutes} min de silencio; ahora se sabe un hueco de ${gap}, que llegó tarde`,
    low: (product, market, stock) => `${product} en ${market}: quedan ${stock}`,
    threshold: (threshold) => `Umbral: ${threshold}.`,
    over: (product, market) => `${product} en ${market}: ya no está bajo`,
    minimum: (minimum) => `El mínimo fue ${minimum}.`,
    report: (day) => `Informe del ${day}`,
    reportText: 'El informe por furgoneta va adjunto, en CSV.',
    test: 'Prueba: los avisos de Quilòmetre Zero llegan hasta aquí.',
    key: 'Clave',
  },
  en: {
    silent: (van, minutes) => `${van}: no signal for ${minutes} min`,
    since: (time) => `Since: ${time}.`,
    where: (place) => `Last position: ${place}.`,
    returned: (van, minutes) => `${van}: has signal again, after ${minutes} min`,
    corrected: (van, minutes, gap) => `${van}: known then ${minutes} min of silence; known now a gap of ${gap}, reported late`,
    low: (product, market, stock) => `${product} in ${market}: ${stock} left`,
    threshold: (threshold) => `Threshold: ${threshold}.`,
    over: (product, market) => `${product} in ${market}: low no longer`,
    minimum: (minimum) => `The minimum was ${minimum}.`,
    report: (day) => `Report of ${day}`,
    reportText: 'The report by van is attached, as CSV.',
    test: 'Test: notifications of Quilòmetre Zero arrive here.',
    key: 'Key',
  },
}

/** Short ones in seconds. */
const gapOf = (ms: number) => (ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${minutesOf(ms)} min`)
const minutesOf = (ms: number) => Math.round(ms / 60_000)

/** An event in words, times in Europe/Madrid with their offset. */
export function eventText(event: PlatformEvent, locale: Locale): MailText {
  const words = WORDS[locale]
  const time = (ms: number) =>
    new Intl.DateTimeFormat(locale === 'en' ? 'en-GB' : locale, {
      ...{ day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'shortOffset' },
      timeZone: 'Europe/Madrid',
    } as Intl.DateTimeFormatOptions).format(ms)
  const written = (subject: string, ...lines: string[]) => ({
    subject,
    text: [subject, ...lines, '', `${words.key}: ${event.key}`].join('\n'),
  })
  switch (event.kind) {
    case 'no-signal': {
      const where = event.lat === null || event.lon === null ? [] : [words.where(`${event.lat.toFixed(5)}, ${event.lon.toFixed(5)}`)]
      return written(words.silent(event.van, minutesOf(event.stepMs)), words.since(time(event.sinceMs)), ...where)
    }
    case 'corrected':
      return written(words.corrected(event.van, minutesOf(event.thenMs), gapOf(event.knownGapMs)), words.since(time(event.sinceMs)))
    case 'returned':
      return written(words.returned(event.van, minutesOf(event.endedMs - event.sinceMs)), words.since(time(event.endedMs)))
    case 'low-stock': {
      const threshold = event.threshold === null ? [] : [words.threshold(event.threshold)]
      return written(words.low(event.product, event.market, event.stock), ...threshold, words.since(time(event.startMs)))
    }
    case 'low-stock-over':
      return written(words.over(event.product, event.market), words.since(time(event.endMs)), words.minimum(event.minimum))
  }
}

export function reportText(day: string, locale: Locale): MailText {
  return { subject: WORDS[locale].report(day), text: WORDS[locale].reportText }
}

export function testText(locale: Locale): MailText {
  return { subject: WORDS[locale].test, text: WORDS[locale].test }
}
