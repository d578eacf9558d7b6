/** A town of the province of Girona. Coordinates and inhabitants: GeoNames (CC BY 4.0). */
export interface Town {
  readonly name: string
  readonly lat: number
  readonly lon: number
  readonly inhabitants: number
}

// biome-ignore format: one town a line
const TABLE: readonly (readonly [string, number, number, number])[] = [
  ['Girona', 41.98311, 2.82493, 96188],
  ['Figueres', 42.26645, 2.96163, 43330],
  ['Blanes', 41.67419, 2.79036, 40047],
  ['Lloret de Mar', 41.69993, 2.84565, 39363],
  ['Olot', 42.18096, 2.49012, 33524],
  ['Salt', 41.97489, 2.79281, 29985],
  ['Palafrugell', 41.91738, 3.1631, 22365],
  ['Sant Feliu de Guíxols', 41.78333, 3.03333, 21977],
  ['Roses', 42.26199, 3.17689, 20197],
  ['Banyoles', 42.11667, 2.76667, 18327],
  ['Palamós', 41.84843, 3.12912, 18161],
  ["Castelló d'Empúries", 42.25673, 3.07446, 12111],
  ['Santa Coloma de Farners', 41.86667, 2.66667, 11739],
  ['Torroella de Montgrí', 42.04254, 3.12703, 11598],
  ['Ripoll', 42.20064, 2.19033, 11057],
  ['Calonge', 41.85869, 3.07926, 10637],
  ["La Bisbal d'Empordà", 41.95, 3.05, 10385],
  ["Castell-Platja d'Aro", 41.81751, 3.06742, 10376],
  ['Cassà de la Selva', 41.88784, 2.87524, 8504],
  ['Empuriabrava', 42.24691, 3.12059, 8000],
  ['Vidreres', 41.78333, 2.78333, 7500],
  ['Maçanet de la Selva', 41.78333, 2.73333, 7000],
  ['Llagostera', 41.82688, 2.89365, 6713],
  ['Sant Hilari Sacalm', 41.88333, 2.51667, 5600],
  ['Anglès', 41.95617, 2.63603, 5159],
  ["Santa Cristina d'Aro", 41.81667, 3, 5089],
  ['Tossa de Mar', 41.71667, 2.93333, 5001],
  ['Llançà', 42.36241, 3.15213, 5000],
  ['Porqueres', 42.11682, 2.74143, 4500],
  ['Sarrià de Ter', 42.01667, 2.83333, 4001],
  ['Riells i Viabrea', 41.78333, 2.51667, 4000],
  ['Begur', 41.95, 3.21667, 3981],
  ['Sils', 41.80842, 2.74507, 3869],
  ['Bescanó', 41.96603, 2.73922, 3767],
  ['Breda', 41.74833, 2.55964, 3599],
  ['Sant Joan de les Abadesses', 42.23332, 2.28524, 3593],
  ['Sant Gregori', 41.98333, 2.73333, 3500],
  ['Hostalric', 41.75, 2.63333, 3442],
  ['Celrà', 42.03333, 2.88333, 3372],
  ['Campdevànol', 42.22445, 2.1686, 3349],
  ['La Jonquera', 42.41728, 2.87363, 3200],
  ["Vilobí d'Onyar", 41.88333, 2.75, 3100],
  ["L'Estartit", 42.0534, 3.19767, 2962],
  ['Cadaqués', 42.28856, 3.27706, 2894],
  ['Sant Joan les Fonts', 42.21186, 2.51291, 2615],
  ['Camprodon', 42.31185, 2.36506, 2435],
  ['Pals', 41.97102, 3.14814, 2366],
  ['Besalú', 42.19893, 2.69953, 2213],
  ['Vilablareix', 41.95746, 2.77377, 2194],
  ['Sant Pere Pescador', 42.18812, 3.08212, 2100],
  ['Riudarenes', 41.81667, 2.71667, 2100],
  ['Ribes de Freser', 42.30417, 2.16757, 2033],
  ['Fornells de la Selva', 41.93159, 2.80907, 1823],
  ['Peralada', 42.30823, 3.0091, 1800],
  ["Les Planes d'Hostoles", 42.05669, 2.54093, 1800],
  ['Riudellots de la Selva', 41.89327, 2.80452, 1770],
  ['Santa Pau', 42.1443, 2.57123, 1541],
  ["Sant Esteve d'en Bas", 42.11809, 2.45682, 1451],
  ['Bordils', 42.04336, 2.91088, 1434],
  ['Portbou', 42.4265, 3.15805, 1400],
  ['Sant Feliu de Pallerols', 42.07708, 2.50935, 1300],
  ['Verges', 42.06283, 3.04579, 1166],
  ['Llers', 42.29571, 2.91183, 1126],
  ['Vilajuïga', 42.32533, 3.09302, 1057],
  ['Viladrau', 41.84746, 2.39019, 1005],
  ['Bàscara', 42.15998, 2.91028, 894],
  ['Vilamalla', 42.2172, 2.97009, 885],
  ['Navata', 42.22353, 2.8611, 857],
  ['Vilabertran', 42.28255, 2.98144, 842],
  ['Massanes', 41.76536, 2.65324, 800],
  ['Vilademuls', 42.1389, 2.88819, 772],
  ['Agullana', 42.39408, 2.84666, 769],
  ['Cervià de Ter', 42.0665, 2.90743, 756],
  ['Garriguella', 42.34392, 3.06506, 727],
  ['Colera', 42.40394, 3.15153, 702],
  ['Vila-sacra', 42.26578, 3.01839, 700],
  ['Maçanet de Cabrenys', 42.38597, 2.74806, 700],
  ['Ventalló', 42.14921, 3.02635, 675],
  ['Camós', 42.08776, 2.76288, 660],
  ['Ullastret', 42, 3.06667, 300],
  ['Mieres', 42.12247, 2.6385, 300],
  ['Madremanya', 41.98333, 2.96667, 260],
  ['Viladasens', 42.08333, 2.93333, 200],
]

export const TOWNS: readonly Town[] = TABLE.map(([name, lat, lon, inhabitants]) => ({ name, lat, lon, inhabitants }))

/** Index of a town by name; throws when there is none. */
export function townIndex(name: string): number {
  const index = TOWNS.findIndex((town) => town.name === name)
  if (index < 0) throw new Error(`no town is called ${name}`)
  return index
}
