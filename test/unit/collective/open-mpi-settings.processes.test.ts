import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { type TunedCollective, tunedParameters } from '../../../src/collective/open-mpi-settings.js'
import { tunedSettings } from '../../support/steiner-settings.js'
import { tunedNames } from '../../support/tuned-names.js'

const collectives = Object.keys(tunedNames) as TunedCollective[]

/** Lines `name:what:value` of the parameters of `tuned`; null without Open MPI. */
function ompiInfo(env: Readonly<Record<string, string>> = {}): readonly string[] | null {
  const { status, stdout } = spawnSync(
    'ompi_info',
    ['--param', 'coll', 'tuned', '--level', '9', '--parsable'],
    {
      env: { ...process.env, ...env },
      encoding: 'utf8',
    },
  )
  return status === 0 ? stdout.split('\n').map((line) => line.replace('mca:coll:tuned:param:', '')) : null
}

const lines = ompiInfo()
if (lines === null) {
  const reason = 'there is no ompi_info on the PATH'
  if (process.env['RANKWEAVE_REQUIRE_MPI'] === '1') throw new Error(`tests require MPI, but ${reason}`)
  console.warn(`Names of Open MPI are not compared: ${reason}`)
}

describe.skipIf(lines === null)('the installed Open MPI', () => {
  it.each(collectives)('has the algorithms of %s by these names', (collective) => {
    const pattern = new RegExp(`^coll_tuned_${collective}_algorithm:enumerator:value:\\d+:(\\w+)$`)
    const names = lines!.flatMap((line) => pattern.exec(line)?.slice(1) ?? [])
    expect([...tunedNames[collective], 'ignore'].sort()).toEqual(names.sort())
  })

  it.each(tunedSettings.map((setting) => [JSON.stringify(setting), setting] as const))(
    'takes %s',
    (_, setting) => {
      for (const name of Object.keys(tunedParameters(setting)))
        expect(lines!.some((line) => line.startsWith(`${name}:value:`))).toBe(true)
    },
  )

  it('takes names for algorithms', () => {
    const last = collectives.map((collective) => [collective, tunedNames[collective].at(-1)!] as const)
    const parameters = last.flatMap(([collective, algorithm]) =>
      Object.entries(tunedParameters({ collective, algorithm })),
    )
    const told = ompiInfo(Object.fromEntries(parameters.map(([name, value]) => [`OMPI_MCA_${name}`, value])))
    for (const [collective, algorithm] of last)
      expect(told).toContain(`coll_tuned_${collective}_algorithm:value:${algorithm}`)
  })
})
