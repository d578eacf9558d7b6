// Vans for the panel's bench, as a process of its own: `panel-publisher.ts URL VANS SECONDS` publishes a position of each a second, spread evenly.
import { positionTopic } from '@km0/contracts'
import { openMqttPublisher } from '@km0/transport/mqtt-publisher'
import { placeOf, vanNameOf } from './panel-route.ts'

const [url = '', vansText = '', secondsText = ''] = process.argv.slice(2)
const vans = Number(vansText)
const endMs = Date.now() + Number(secondsText) * 1_000
const VANS_PER_CONNECTION = 500
const SLOT_MS = 10

const publishers = Array.from({ length: Math.ceil(vans / VANS_PER_CONNECTION) }, (_, n) =>
  openMqttPublisher({ url, clientId: `bench-vans-${n}` }),
)
let sent = 0

function position(van: number, nowMs: number): string {
  const { lat, lon } = placeOf(van, nowMs)
  return `{"repartidor":"${vanNameOf(van)}","lat":${lat},"lon":${lon},"data_ms":${nowMs}}`
}

/** Whose turn it is up to a moment of the second. */
let next = 0
let second = Math.floor(Date.now() / 1_000)
function publishDue(): void {
  const nowMs = Date.now()
  if (nowMs >= endMs) {
    clearInterval(timer)
    console.log(JSON.stringify({ sent }))
    void Promise.all(publishers.map((publisher) => publisher.close(true))).then(() => process.exit(0))
    return
  }
  const due = Math.floor(nowMs / 1_000) > second ? vans : Math.floor(((nowMs % 1_000) / 1_000) * vans)
  for (; next < due; next += 1) {
    const van = next + 1
    sent += 1
    publishers[Math.floor(next / VANS_PER_CONNECTION)]
      ?.publish(positionTopic(vanNameOf(van)), position(van, Date.now()))
      .catch(() => undefined)
  }
  if (due === vans) {
    next = 0
    second = Math.floor(nowMs / 1_000)
  }
}
const timer = setInterval(publishDue, SLOT_MS)
