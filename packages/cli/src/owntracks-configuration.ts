import { renderSVG, renderUnicodeCompact } from 'uqr'
import { PHONE_DEVICE } from './broker-accounts.ts'

export interface PhoneAccess {
  readonly van: string
  readonly password: string
  readonly host: string
  readonly port: number
  readonly tls: boolean
}

/**
 * Text of an .otrc file: OwnTracks' remote configuration (booklet, "Configuration"). MQTT mode, a fix every few seconds while moving, QoS 1, and a
 * session that keeps what could not be sent. The van then publishes on `owntracks/VAN/mobil` and is called `VAN/mobil`.
 */
export function owntracksConfiguration({ van, password, host, port, tls }: PhoneAccess): string {
  const configuration = {
    _type: 'configuration',
    mode: 0,
    host,
    port,
    tls,
    ws: false,
    mqttProtocolLevel: 4,
    auth: true,
    username: van,
    password,
    clientId: van,
    deviceId: PHONE_DEVICE,
    tid: van.slice(-2),
    pubTopicBase: 'owntracks/%u/%d',
    pubQos: 1,
    pubRetain: false,
    cleanSession: false,
    keepalive: 30,
    sub: false,
    cmd: false,
    monitoring: 2,
    locatorInterval: 5,
    moveModeLocatorInterval: 5,
    locatorDisplacement: 10,
  }
  return `${JSON.stringify(configuration, null, 2)}\n`
}

/** Address that the app opens to take the configuration. */
export function owntracksLink(configuration: string): string {
  const inline = Buffer.from(JSON.stringify(JSON.parse(configuration))).toString('base64')
  return `owntracks:///config?inline=${encodeURIComponent(inline)}`
}

/** The same as a QR code: for a terminal, or as SVG. */
export const qrForTerminal = (link: string) => `${renderUnicodeCompact(link, { ecc: 'L', border: 2 })}\n`
export const qrAsSvg = (link: string) => renderSVG(link, { ecc: 'L', border: 4 })
