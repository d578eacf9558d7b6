import { describe, expect, it } from 'vitest'
import { parseCommand, UsageError } from './options.ts'

const NOW_MS = 1_789_380_000_000
const parse = (line: string) => parseCommand(line === '' ? [] : line.split(' '), NOW_MS)

describe('the command line', () => {
  it('without words is the fleet that begins now', () => {
    expect(parse('')).toMatchObject({
      kind: 'fleet',
      vans: 140,
      intervalMs: 5_000,
      seed: 1,
      hours: 'always',
      wrongClock: true,
      forced: [],
      catchUpMinutes: null,
      statePath: null,
      journalPath: null,
      windowMessages: 256,
      clientId: `km0-fleet-${process.pid}`,
      print: null,
    })
  })

  it('takes faults, rates and calm', () => {
    const command = parse('--fault tunnel:furgoneta-7:240 --fault clock:furgoneta-9:+90@5 --calm --rate jump=3')
    expect(command).toMatchObject({
      forced: [
        { kind: 'tunnel', van: 'furgoneta-7', value: 240, atS: 15 },
        { kind: 'clock', van: 'furgoneta-9', value: 90, lastsS: null, atS: 5 },
      ],
      rates: { tunnel: 0, duplicate: 0, jump: 3 },
      wrongClock: false,
    })
  })

  it('takes a recorded day, from now or up to now', () => {
    expect(parse('--play day.jsonl --speed 60 --then-exit --drain-ms 600000')).toMatchObject({
      kind: 'play',
      path: 'day.jsonl',
      ownsClock: true,
      speed: 60,
      thenExit: true,
      drainMs: 600_000,
    })
    for (const words of ['--play day.jsonl', '--play day.jsonl --speed max', '--play day.jsonl --speed 0']) {
      expect(parse(words)).toMatchObject({ speed: Number.POSITIVE_INFINITY })
    }
    expect(parse('--from day.jsonl')).toMatchObject({ kind: 'play', ownsClock: false, speed: 1, clientId: `km0-player-${process.pid}` })
  })

  it.each([
    ['--vans 0', /--vans 0: an integer from 1/],
    ['--vans 1e3', /--vans/],
    ['--interval-ms 10', /--interval-ms/],
    ['--speed 9', /needs --catch-up-minutes/],
    ['--catch-up-minutes 5 --speed 0.5', /--speed 0.5/],
    ['--from a --play b', /exclude each other/],
    ['--from a --speed 3', /speed 1/],
    ['--rate tunnel=25', /at most 24/],
    ['--rate tunel=1', /KIND=NUMBER/],
    ['--rate tunnel', /KIND=NUMBER/],
    ['--fault tunnel:furgoneta-141', /furgoneta-1 to furgoneta-140/],
    ['--fault tunnel:camio-1', /furgoneta-1 to/],
    ['--fault nothing:furgoneta-1', /the kind is one of/],
    ['--register-csv trucks', /depots, shifts, markets, vans/],
    ['--no-such-word', /no-such-word/],
    ['loose', /loose/],
  ])('%s is refused', (line, reason) => {
    expect(() => parse(line)).toThrow(UsageError)
    expect(() => parse(line)).toThrow(reason)
  })
})
