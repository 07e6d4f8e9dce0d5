import { formatMachine, machineFromSlurm, type SlurmEnvironment } from 'rankweave/machine'
import { describe, expect, test } from 'vitest'
import { expandHosts } from '../../../src/machine/host-list.js'
import { refusal } from '../../support/refusal.js'

test.each([
  ['gpu1', ['gpu1']],
  ['n[001-003,7],gpu1', ['n001', 'n002', 'n003', 'n7', 'gpu1']],
  ['r[1-2]n[0-1]-ib', ['r1n0-ib', 'r1n1-ib', 'r2n0-ib', 'r2n1-ib']],
  ['n[9-11]', ['n9', 'n10', 'n11']],
  ['n[09-11],a.b-c', ['n09', 'n10', 'n11', 'a.b-c']],
  ['n[98-101]', ['n98', 'n99', 'n100', 'n101']],
])('expandHosts lists %s', (text, hosts) => {
  expect(expandHosts(text)).toEqual(hosts)
})

test.each([
  ['', 'character 1: expected the name of a host, got the end'],
  ['a,', 'character 3: expected the name of a host, got the end'],
  ['a,,b', 'character 3: expected the name of a host'],
  ['n[1-3', "character 6: expected ',' or ']', got the end"],
  ['n[]', 'character 3: expected a number or a range such as 001-003'],
  ['n[3-1]', "character 3: expected an ascending range, got '3-1]'"],
  ['n[1]]', "character 5: expected ','"],
  ['n[1] b', "character 5: expected ','"],
  ['n[0-9999999999]', 'character 1: expected at most 1048576 hosts'],
  ['n[0-9999][0-9999]', 'character 1: expected at most 1048576 hosts'],
  [`n1,${'n'.repeat(240)}[1-1000000000000000]`, 'character 4: expected names of at most 255 characters'],
  ['--mca,n1', "character 1: expected the name of a host, got '--mca,n1'"],
  ['n1\nbest: n2', "character 3: expected ',', got '\\x0abest: n2'"],
  ['n1;rm', "character 3: expected ',', got ';rm'"],
])("expandHosts rejects '%s'", (text, message) => {
  expect(() => expandHosts(text)).toThrow(refusal('ERR_MACHINE', message))
})

describe('machineFromSlurm', () => {
  const job = {
    SLURM_JOB_NODELIST: 'n[001-003],gpu1',
    SLURM_TASKS_PER_NODE: '16(x3),8',
    SLURM_JOB_CPUS_PER_NODE: '40(x3),32',
  }

  test('takes tasks as cores, or processors where it should or there are no tasks', () => {
    const { machine, hosts } = machineFromSlurm(job)
    expect(hosts).toEqual(['n001', 'n002', 'n003', 'gpu1'])
    expect(formatMachine(machine)).toBe('cluster:cores=3x16+8')
    expect(formatMachine(machineFromSlurm(job, { by: 'cpus' }).machine)).toBe('cluster:cores=3x40+32')
    const withoutTasks = { ...job, SLURM_TASKS_PER_NODE: undefined }
    expect(formatMachine(machineFromSlurm(withoutTasks).machine)).toBe('cluster:cores=3x40+32')
  })

  test.each<[SlurmEnvironment, string]>([
    [{}, 'expected SLURM_JOB_NODELIST, as in a job of Slurm, got none'],
    [{ SLURM_JOB_NODELIST: 'a' }, 'expected SLURM_JOB_CPUS_PER_NODE'],
    [
      { ...job, SLURM_TASKS_PER_NODE: '16(x3)' },
      "'16(x3)': expected 4 nodes, as SLURM_JOB_NODELIST has, got 3",
    ],
    [{ ...job, SLURM_TASKS_PER_NODE: '16(x3),x' }, "character 8: expected '16' or '16(x3)', got 'x'"],
    [{ ...job, SLURM_TASKS_PER_NODE: '16(x0),1(x4)' }, "character 1: expected '16' or '16(x3)'"],
    [{ ...job, SLURM_TASKS_PER_NODE: '0(x4)' }, 'node 0: expected at least 1 core, got 0'],
    [{ ...job, SLURM_TASKS_PER_NODE: '9999999(x4)' }, 'expected at most 16777216 cores'],
  ])('rejects %j', (environment, message) => {
    expect(() => machineFromSlurm(environment)).toThrow(refusal('ERR_MACHINE', message))
  })
})
