import { writeFileSync } from 'node:fs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { layoutHere } from '../../../../src/cli/program/machine-here.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'
import { cli } from '../run-cli.js'

describe('the machine here', () => {
  const folder = temporaryFolder('machine-here')
  afterEach(() => vi.unstubAllEnvs())

  it.each(['PBS_NODEFILE', 'LSB_DJOB_HOSTFILE', 'PE_HOSTFILE'])('is the hosts of %s', (name) => {
    const file = `${folder()}/hosts`
    writeFileSync(file, 'n1\nn1\nn2\n')
    expect(layoutHere({ [name]: file })).toBe(`hosts:${file}`)
    expect(layoutHere({ [name]: `${file}.gone` })).toMatch(/^cluster:cores=\d+/)
  })

  it('is the job of Slurm, also where its files have other hosts', () => {
    expect(layoutHere({ SLURM_JOB_NODELIST: 'n[1-2]', PBS_NODEFILE: '/dev/null' })).toBe('slurm')
  })

  it('takes a given profile, and measures nothing', async () => {
    vi.stubEnv('PATH', folder())
    const { exitCode, stdout, stderr } = await cli('machine', 'here,profile=simgrid-fast,ports=2')
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^cluster:nodes=1,cores=\d+.*,ports=2,profile=simgrid-fast$/m)
  })

  it('alone has --again', async () => {
    const { exitCode, stderr } = await cli('machine', 'cluster:cores=2', '--again')
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--again: expected here')])
  })
})
