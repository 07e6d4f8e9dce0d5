import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Profile } from '../../../../src/machine/profile.js'
import { parseProfile } from '../../../../src/machine/profile-file.js'
import { cli, onlyObject } from '../run-cli.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rankweave-cli-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('calibrate', () => {
  it('writes a profile with the machine and the date as its source, and reports the spread', async () => {
    const file = join(folder, 'here.json')
    const options = ['--fabric', 'local', '--runs', '3', '--name', 'here', '-o', file, '--json']
    const answer = await cli('calibrate', ...options)
    expect(answer.exitCode).toBe(0)
    const object = onlyObject(answer) as { profile: Profile; measured: { node: object } }
    const profile = parseProfile(readFileSync(file, 'utf8'))
    expect(object.profile).toEqual(profile)
    expect(profile).toMatchObject({ name: 'here', provenance: 'measured', eagerLimitBytes: 65_536 })
    expect(profile.source).toMatch(
      /^rankweave .* calibrate, \d{4}-\d\d-\d\d: local, 2 processes; .*; Node v\d/,
    )
    expect(Object.keys(object.measured.node)).toContain('latencyNs')
    for (const value of Object.values(profile.levels.node)) expect(value).toBeGreaterThanOrEqual(0)
  })

  it('refuses one process, and a name that machine lines could not hold', async () => {
    const one = await cli('calibrate', '--fabric', 'local', '--processes', '1')
    expect([one.exitCode, one.stderr]).toEqual([2, expect.stringContaining('ERR_USAGE')])
    const name = await cli('calibrate', '--fabric', 'local', '--name', 'a b')
    expect([name.exitCode, name.stderr]).toEqual([2, expect.stringContaining('--name')])
  })
})
