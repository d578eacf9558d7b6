import { describe, expect, it } from 'vitest'
import { SelfProbe } from './self-probe.ts'

/** Probes that are sent come back at once while `loop.open`; the broker takes them while `loop.takes`. */
function build() {
  const loop = { open: true, takes: true, connected: true }
  const sent: string[] = []
  let nowMs = Date.now()
  const probe: SelfProbe = new SelfProbe(
    { instance: 'prova', everyMs: 10_000, limitMs: 30_000 },
    {
      connected: () => loop.connected,
      publish: async (_topic, payload) => {
        sent.push(payload)
        if (!loop.takes) return new Promise(() => undefined)
        if (loop.open) probe.returned(Buffer.from(payload), nowMs)
      },
    },
  )
  let heardMs: number | null = null
  /** Returns how often the input was told to connect again. */
  const run = async (seconds: number, listening = true) => {
    let reconnects = 0
    for (let second = 0; second < seconds; second += 1) {
      nowMs += 1_000
      if (probe.tick(nowMs, listening, heardMs)) reconnects += 1
      await Promise.resolve()
    }
    return reconnects
  }
  const hear = () => {
    heardMs = nowMs
  }
  return { hear, loop, sent, probe, run, nowMs: () => nowMs, verdict: () => probe.verdict(nowMs) }
}

describe('self-probe', () => {
  it('sends one every 10 s and sees it come back', async () => {
    const { probe, sent, run, verdict, nowMs } = build()
    await run(41)
    expect(sent).toHaveLength(5)
    expect(probe.secondsSinceReturn(nowMs())).toBe(0)
    expect(verdict()).toBe('ok')
  })

  it('is deaf when nothing comes back for longer than the limit, and well with the next one (B39)', async () => {
    const { loop, probe, run, verdict, nowMs } = build()
    await run(1)
    loop.open = false
    expect(await run(30)).toBe(0)
    expect(verdict()).toBe('ok')
    expect(await run(1)).toBe(1)
    expect(verdict()).toBe('deaf')
    expect(probe.secondsSinceReturn(nowMs())).toBe(31)
    // Red until something is heard; another reconnect has its time first.
    expect(await run(30)).toBe(0)
    expect(verdict()).toBe('deaf')
    expect(await run(2)).toBe(1)
    loop.open = true
    await run(12)
    expect(verdict()).toBe('ok')
  })

  it('a van that is heard is as good as a probe', async () => {
    const { loop, hear, run, verdict } = build()
    loop.open = false
    await run(25)
    hear()
    await run(25)
    expect(verdict()).toBe('ok')
    await run(10)
    expect(verdict()).toBe('deaf')
  })

  it('counts no time while the input does not listen, and sends nothing then', async () => {
    const { loop, run, sent, verdict } = build()
    loop.open = false
    await run(20)
    const before = sent.length
    await run(600, false)
    expect(sent).toHaveLength(before)
    await run(20)
    expect(verdict()).toBe('ok')
  })

  it('believes in no probe of another bridge or an earlier life', async () => {
    const { loop, probe, run, verdict, nowMs } = build()
    loop.open = false
    await run(32)
    probe.returned(Buffer.from('{"pont":"prova-2","n":1}'), nowMs())
    probe.returned(Buffer.from('"prova"'), nowMs())
    expect(verdict()).toBe('deaf')
  })

  it('tells a broker that takes no probes from an input that is deaf', async () => {
    const { loop, run, verdict } = build()
    loop.connected = false
    await run(40)
    expect(verdict()).toBe('unsent')
  })
})
