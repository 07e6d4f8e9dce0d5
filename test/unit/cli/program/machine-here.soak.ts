import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { describeMpi } from '../../../support/mpi.js'
import { compilerOf } from '../../../support/mpi-collectives.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'
import { cli } from '../run-cli.js'

describeMpi('the machine here', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('machine-here')
  afterEach(() => vi.unstubAllEnvs())

  it.skipIf(mpicc === null)('has costs of messages that are measured once', async () => {
    const programs = join(folder(), 'bin')
    mkdirSync(programs)
    for (const [name, own] of Object.entries({ mpirun: mpi.mpirun, mpicc }))
      writeFileSync(join(programs, name), `#!/bin/sh\nexec ${own} "$@"\n`, { mode: 0o755 })
    vi.stubEnv('PATH', `${programs}:${process.env['PATH']}`)
    vi.stubEnv('XDG_CACHE_HOME', join(folder(), 'cache'))
    for (const [name, value] of Object.entries(mpi.env)) vi.stubEnv(name, value)
    const costs = () => readdirSync(join(folder(), 'cache/rankweave/costs'))

    const first = await cli('machine', 'here', '--json')
    expect([first.exitCode, first.stderr]).toEqual([0, expect.stringContaining('measuring messages of MPI')])
    const { profile } = JSON.parse(first.stdout)
    expect(profile).toMatchObject({ provenance: 'measured', source: expect.stringContaining(mpi.name) })
    const overhead = profile.figures.find(
      ({ path }: { path: string }) => path === 'levels.node.sendOverheadNs',
    )
    expect(overhead.value).toBeGreaterThan(0)
    expect(costs()).toEqual([expect.stringMatching(/^[0-9a-f]{12}\.json$/)])

    const words = ['simulate', 'allreduce-ring', '--machine', 'here', '--bytes', '4096']
    const second = await cli(...words, '--json')
    expect([second.exitCode, second.stderr]).toEqual([0, ''])
    expect(JSON.parse(second.stdout).machine).toContain(profile.name)

    const again = await cli('machine', 'here', '--again')
    expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining('measuring messages of MPI')])
    expect(costs()).toHaveLength(1)
  })
})

it('without mpirun, the machine here has no costs, and a note says so', async () => {
  vi.stubEnv('PATH', '/nowhere')
  const { exitCode, stdout, stderr } = await cli('machine', 'here')
  vi.unstubAllEnvs()
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('none: messages have no cost')])
  expect(stderr).toContain('here,profile=NAME gives some: mpirun is not on PATH or does not start')
})
