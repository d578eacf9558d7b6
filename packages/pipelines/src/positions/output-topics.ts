import { type Emission, TOPICS } from '@km0/contracts'

/** Topic of each output of the positions pipeline, for every host. */
export const POSITIONS_TOPICS: Readonly<Record<Emission['output'], string>> = {
  panell: TOPICS.panel.name,
  tardans: TOPICS.late.name,
  rebutjats: TOPICS.deadLetters.name,
  viu: TOPICS.live.name,
  alertes: TOPICS.stockAlerts.name,
}
