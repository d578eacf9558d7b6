import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EVERYTHING } from '@km0/contracts'
import { openServing, type Serving } from '@km0/serving'
import { startServices, type TestServices } from '@km0/testkit/services'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

let services: TestServices<{ postgres: true }>
let serving: Serving
const folder = mkdtempSync(join(tmpdir(), 'km0-csv-'))
beforeAll(async () => {
  execFileSync(process.execPath, ['infra/build.mjs', 'cli/src/km0'], { cwd: root, stdio: 'inherit' })
  services = await startServices({ postgres: true })
  serving = openServing({ databaseUrl: services.postgres.url, applicationName: 'test' })
})
afterAll(async () => {
  await serving?.close()
  await services?.stop()
  rmSync(folder, { recursive: true, force: true })
})

interface Ran {
  readonly code: number
  readonly out: string
  readonly said: string
}

/** Runs the command as a person would. */
function km0(...args: readonly string[]): Promise<Ran> {
  const env = { ...process.env, ...services.environment, KM0_PANEL_URL: 'https://panel.example.test/' }
  return new Promise((resolve) => {
    execFile(process.execPath, ['packages/cli/dist/km0.js', ...args], { cwd: root, env }, (error, out, said) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, said }),
    )
  })
}

function file(name: string, text: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

describe('km0', () => {
  it('puts depots and vans of CSV files into an empty database, and changes what changed', async () => {
    const depots = file('depots.csv', 'id,name,lat,lon,markets\ngirona,"Girona, Lleó",41.98,2.82,lleo;salt\n')
    expect(await km0('depots', 'import', depots)).toMatchObject({ code: 0, out: `${depots}: 1 depots added, 0 changed, 0 as before\n` })
    const vans = file('vans.csv', 'van,plate,depot\nfurgoneta-1,1234-ABC,girona\nfurgoneta 🚚,,\n')
    expect((await km0('vans', 'import', vans)).out).toContain('2 vans added')
    file('vans.csv', 'van,plate,depot\nfurgoneta-1,9999-XYZ,girona\n')
    expect((await km0('vans', 'import', vans)).out).toContain('0 vans added, 1 changed, 0 as before')
    const { depots: stored, registered } = await serving.readRegister(EVERYTHING)
    expect(stored).toMatchObject([{ id: 'girona', name: 'Girona, Lleó', markets: ['lleo', 'salt'] }])
    expect(registered.map(({ van, plate, depotId }) => [van, plate, depotId])).toEqual([
      ['furgoneta 🚚', null, null],
      ['furgoneta-1', '9999-XYZ', 'girona'],
    ])
  })

  it('makes one-time links, users, tokens, and takes access from them', async () => {
    const first = await km0('user', 'link')
    expect(first.out).toMatch(/^https:\/\/panel\.example\.test\/entrada#[A-Za-z]{32}\n$/)
    expect(first.said).toContain('signs admin@km0.local in, once, until ')
    const invited = await km0(
      ...['user', 'invite', '--email', 'Marta@example.test', '--name', 'Marta', '--role', 'dispatcher', '--depots', 'girona'],
    )
    expect([invited.code, invited.out]).toEqual([0, expect.stringContaining('/entrada#')])
    const token = (await km0('user', 'token', '--name', 'report', '--markets', 'lleo')).out
    expect(token).toMatch(/^km0t_[\w-]{43}\n$/)
    const { out: list } = await km0('user', 'list')
    expect(list).toMatch(/marta@example\.test +Marta +dispatcher +depot girona/)
    expect(list).toMatch(/token +report +km0t_\S+… +market lleo/)
    expect(list).not.toContain(token.trim())
    expect((await km0('user', 'role', '--email', 'marta@example.test', '--role', 'analyst')).out).toBe(
      'marta@example.test: analyst, sees depot girona\n',
    )
    expect((await km0('user', 'depots', '--email', 'marta@example.test')).out).toContain('sees everything')
    expect((await km0('user', 'revoke', '--email', 'marta@example.test')).out).toContain('no access')
    const refused = [
      await km0('user', 'link', '--email', 'marta@example.test'),
      await km0('user', 'link', '--email', 'nobody@example.test'),
      await km0('user', 'revoke', '--email', 'admin@km0.local'),
      await km0('user', 'role', '--email', 'marta@example.test', '--role', 'queen'),
      await km0('user', 'token', '--revoke', '99'),
    ]
    expect(refused.map(({ code }) => code)).toEqual([2, 2, 2, 2, 2])
    expect((await km0('user', 'restore', '--email', 'marta@example.test')).code).toBe(0)
    expect((await km0('user', 'token', '--revoke', '1')).code).toBe(0)
  })

  it('puts calendars in, too', async () => {
    const shifts = file('shifts.csv', 'depot,day,start,end\ngirona,mon-fri,06:30,21:30\ngirona,2026-12-25,,\n')
    expect((await km0('shifts', 'import', shifts)).out).toContain('6 shifts added, 0 changed, 0 as before')
    const faulty = file('faulty-shifts.csv', 'depot,day,start,end\ngirona,mon,06:30,\nnowhere,tue,06:30,14:00\n')
    expect((await km0('shifts', 'import', faulty)).said).toBe(
      `${faulty}:2: end "" needs a start, and a start an end\nNothing was imported.\n`,
    )
  })

  it('imports nothing of a file with a fault, and names the line', async () => {
    const before = await serving.readRegister(EVERYTHING)
    const vans = file('faulty.csv', 'van,depot,in_service_from\ngood,,\nbad,,2026-02-30\n')
    const faulty = await km0('vans', 'import', vans)
    expect(faulty.code).toBe(1)
    expect(faulty.said).toBe(`${vans}:3: in_service_from "2026-02-30" is not a day of the calendar\nNothing was imported.\n`)
    const unknown = file('unknown.csv', 'van,depot\ngood,\nother,nowhere\n')
    expect((await km0('vans', 'import', unknown)).said).toContain(`${unknown}:3: depot "nowhere" is not registered`)
    expect(await serving.readRegister(EVERYTHING)).toEqual(before)
  })

  it('says what is wrong with a call, without a stack', async () => {
    const absent = await km0('vans', 'import', join(folder, 'absent.csv'))
    expect([absent.code, absent.said.includes('cannot be read'), absent.said.includes('\n    at ')]).toEqual([2, true, false])
    const latin1 = file('latin1.csv', Buffer.from('van\nPla\xe7a\n', 'latin1'))
    expect((await km0('vans', 'import', latin1)).said).toMatch(/is not UTF-8/)
    for (const args of [['vans', 'import'], ['vans', 'import', '--colour'], ['nonsense']]) {
      const { code, said } = await km0(...args)
      expect(code, args.join(' ')).toBe(2)
      expect(said).toMatch(/^km0: /)
      expect(said).not.toContain('\n    at ')
    }
  })

  it('helps', async () => {
    const overview = await km0('--help')
    expect(overview.code).toBe(0)
    expect(overview.out).toContain('vans import')
    expect((await km0('vans', 'import', '--help')).out).toContain('in_service_from')
  })
})
