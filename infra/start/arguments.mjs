/**
 * @typedef {object} StartOptions
 * @property {boolean} help
 * @property {boolean} demo
 * @property {boolean} reset
 * @property {boolean} yes
 * @property {string | null} play File of a recorded day.
 * @property {string} speed How many times faster than life it is played: a number of at least 1, or max.
 * @property {number} port Of the panel; the next free one is taken when it is busy.
 * @property {string} dataDir
 */

export const DEFAULT_PORT = 3000

export const HELP = `npm start [-- OPTIONS]     the whole platform on this machine

  --no-demo            without the demo fleet: send your own vans to the MQTT broker
  --play FILE          plays a recorded day instead of the demo (JSON lines: van, lat, lon, event_ms[, arrival_ms]);
                       it has a log of its own, made anew each time
  --speed N            how many times faster than life FILE is played, or max; default 60
  --port N             port of the panel; the next free one when it is busy; default ${DEFAULT_PORT}
  --reset              deletes the data of the last runs first (asks)
  --yes                answers yes to what would be asked
  --data-dir DIR       where data and logs go; default .km0
  --help               this text

Each of these replaces the service that would be started here:
  KAFKA_BROKERS=host:port,…   DATABASE_URL=postgres://…   REDIS_URL=redis://…   MQTT_URL=mqtt://…
KM0_BROKER=mosquitto starts mosquitto (on PATH, or KM0_MOSQUITTO) in place of the broker that comes with it.
KM0_MAX_DATA_BYTES bounds the data under DIR (default 2 GB), KM0_STREAM_HEAP_MIB the heap of each role of the stream (default 750).
KM0_ENGINE=kafka-streams or flink has the results computed there instead of by our own roles (default node): docs/engines.md.
Ctrl-C stops everything in order.
`

const DEFAULT_SPEED = '60'

/**
 * Options of `npm start`. Throws an Error that says which word is wrong.
 * @param {readonly string[]} words
 * @returns {StartOptions}
 */
export function parseArguments(words) {
  /** @type {StartOptions} */
  const options = {
    help: false,
    demo: true,
    reset: false,
    yes: false,
    play: null,
    speed: DEFAULT_SPEED,
    port: DEFAULT_PORT,
    dataDir: '.km0',
  }
  let speedGiven = false
  const rest = words.flatMap((word) =>
    /^--[a-z-]+=/.test(word) ? [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)] : [word],
  )
  /** @param {string} name */
  const value = (name) => {
    const next = rest.shift()
    if (next === undefined || next === '' || next.startsWith('--')) throw new Error(`${name} needs a value`)
    return next
  }
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--help' || word === '-h') options.help = true
    else if (word === '--no-demo') options.demo = false
    else if (word === '--reset') options.reset = true
    else if (word === '--yes' || word === '-y') options.yes = true
    else if (word === '--play') options.play = value(word)
    else if (word === '--data-dir') options.dataDir = value(word)
    else if (word === '--port') options.port = wholeNumber(word, value(word), 1, 65_535)
    else if (word === '--speed') {
      options.speed = speed(word, value(word))
      speedGiven = true
    } else throw new Error(`there is no option ${word}`)
  }
  if (speedGiven && options.play === null) throw new Error('--speed goes with --play FILE')
  if (options.play !== null && !options.demo) throw new Error('--play and --no-demo exclude each other: --play has no demo fleet')
  return options
}

/** @param {string} name @param {string} text @param {number} least @param {number} most */
function wholeNumber(name, text, least, most) {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number < least || number > most)
    throw new Error(`${name} is a whole number from ${least} to ${most}, not ${text}`)
  return number
}

/** @param {string} name @param {string} text */
function speed(name, text) {
  if (text !== 'max' && !(/^\d+(\.\d+)?$/.test(text) && Number(text) >= 1))
    throw new Error(`${name} is a number of at least 1, or max, not ${text}`)
  return text
}
