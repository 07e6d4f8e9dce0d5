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
    expect(layoutHere({ [name]: file })).toEqual({ text: `hosts:${file}`, variable: name })
    expect(layoutHere({ [name]: `${file}.gone` }).text).toMatch(/^cluster:cores=\d+/)
  })

  it('is the job of Slurm, also where its files have other hosts', () => {
    expect(layoutHere({ SLURM_JOB_NODELIST: 'n[1-2]', PBS_NODEFILE: '/dev/null' }).text).toBe('slurm')
  })

  it('takes a given profile, and measures nothing', async () => {
    vi.stubEnv('PATH', folder())
    const { exitCode, stdout, stderr } = await cli('machine', 'here,profile=simgrid-fast,ports=2')
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^cluster:nodes=1,cores=\d+.*,ports=2,profile=simgrid-fast$/m)
  })

  it('quotes what the user wrote, and names the variable of a host list without hosts', async () => {
    const clause = await cli('machine', 'here,profile=simgrid-fast,port=2')
    expect([clause.exitCode, clause.stderr]).toEqual([
      2,
      expect.stringContaining(
        "machine 'here,profile=simgrid-fast,port=2', character 27: expected no clause 'port'",
      ),
    ])
    vi.stubEnv('PBS_NODEFILE', '/dev/null')
    const empty = await cli('machine', 'here')
    expect([empty.exitCode, empty.stderr]).toEqual([
      2,
      expect.stringMatching(
        /ERR_USAGE: here: the hosts are those of PBS_NODEFILE, '\/dev\/null': host list:/,
      ),
    ])
  })

  it('alone has --again', async () => {
    const { exitCode, stderr } = await cli('machine', 'cluster:cores=2', '--again')
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--again: expected here')])
  })
})
