import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readMeasurements } from '../../../../src/tuning/measured/measurement.js'
import { measureInterrupted } from '../../../support/measure-interrupted.js'
import { temporaryFolder } from '../../../support/temporary-folder.js'
import { cli, onlyObject } from '../run-cli.js'
import { spawnCli } from '../spawn-cli.js'

const folder = temporaryFolder('measure')
const measured = (file: string) => readMeasurements(readFileSync(file, 'utf8').split('\n'))

it.each([
  ['threads', 'allreduce', ['tree', 'any']],
  ['websocket', 'barrier', [undefined]],
])(
  'measure on %s has every setting of the call right, of processes that share one node',
  async (fabric, call, orders) => {
    const file = join(folder(), `${fabric}.jsonl`)
    const effort = ['--repetitions', '2', '--budget', '5', '--bytes', '8', '--site', 'here']
    const words = [call, '--fabric', fabric, '--processes', '2', '-o', file, '--json', ...effort]
    const answer = await spawnCli(['measure', ...words])
    expect(answer).toMatchObject({ exitCode: 0, stderr: '' })
    const lines = measured(file)
    expect(onlyObject(answer)).toMatchObject({ measured: lines.length, wrong: [] })
    expect(new Set(lines.map(({ order }) => order))).toEqual(new Set(orders))
    for (const { nodes, processesPerNode, source } of lines)
      expect([nodes, processesPerNode, source.name]).toEqual([1, 2, fabric])
  },
)

it('measure ends on Ctrl-C with the points that are done', async () => {
  const file = join(folder(), 'interrupted.jsonl')
  const answer = await measureInterrupted(
    file,
    'bcast',
    '--fabric',
    'threads',
    '--processes',
    '2',
    '--budget',
    '5',
  )
  expect(answer).toEqual({
    ...{ exitCode: 130, stdout: '' },
    stderr: `interrupted: ${file} keeps what was measured\n`,
  })
  expect(readFileSync(file, 'utf8')).toMatch(/\}\n$/)
  expect(measured(file).length).toBeGreaterThan(0)
})

it('measure ends on Ctrl-C while it compiles', async () => {
  const [file, mpicc] = [join(folder(), 'compiling.jsonl'), join(folder(), 'mpicc')]
  // A terminal sends the signal to the compiler as well.
  writeFileSync(mpicc, '#!/bin/sh\nkill -INT $PPID\nkill -INT $$\n', { mode: 0o755 })
  const words = ['bcast', '--source', 'mpi', '--launch', 'true', '--mpicc', mpicc, '-o', file]
  expect(await spawnCli(['measure', ...words])).toEqual({
    ...{ exitCode: 130, stdout: '' },
    stderr: `interrupted: ${file} keeps what was measured\n`,
  })
})

describe('measure, of the library of a job', () => {
  const fake = new URL('../../../support/measured-job.mjs', import.meta.url).pathname

  /** Of bcast and barrier, where the job answers some orders otherwise. */
  async function measuredJob(name: string, answers: Readonly<Record<string, string>> = {}) {
    const [file, orders] = [join(folder(), `${name}.jsonl`), join(folder(), `${name}.orders`)]
    const launch = `${process.execPath} ${fake} ${orders} ${Buffer.from(JSON.stringify(answers)).toString('base64url')}`
    const words = ['bcast', 'barrier', '--source', 'mpi', '--launch', launch, '--mpicc', 'true', '-o', file]
    const effort = ['--bytes', '8', '--repetitions', '2', '--site', 'here', '--spreads', '1x2,2x2', '--json']
    const answer = await cli('measure', ...words, ...effort)
    expect(existsSync(orders), answer.stderr).toBe(true)
    return { ...answer, file, orders: readFileSync(orders, 'utf8').trim().split('\n') }
  }

  it('has each setting verified and timed on the processes of each spread, and ends the job', async () => {
    const answer = await measuredJob('right')
    expect(answer.exitCode, answer.stderr).toBe(0)
    expect(answer.stderr).toContain(
      'Open MPI 4.1.4 names no algorithms of barrier: only its default is measured',
    )
    const lines = measured(answer.file)
    expect(onlyObject(answer)).toMatchObject({ measured: lines.length, refused: 0, wrong: [] })
    expect(lines[0]!.source).toEqual({ kind: 'mpi', name: 'Open MPI 4.1.4', machine: 'here' })
    const ofLargest = lines.filter(({ collective, nodes }) => collective === 'bcast' && nodes === 2)
    expect(ofLargest.map(({ algorithm }) => algorithm).sort()).toEqual([
      'basic_linear',
      'binomial',
      'default',
    ])
    expect(answer.orders).toContain('spread 0 1')
    expect(answer.orders).toContain('spread 0 1 2 3')
    expect(answer.orders).toContain('call bcast byte 8')
    expect(answer.orders.some((order) => /^setting \d coll_tuned_bcast_algorithm=6/.test(order))).toBe(true)
    expect(answer.orders.at(-1)).toBe('end')
  })

  it.each([
    ['settings that it refuses', { 'verify 1': 'refused' }, 0, { refused: 2, wrong: [] }],
    [
      'settings whose result is wrong',
      { 'verify 1': 'wrong' },
      1,
      { wrong: [expect.any(Object), expect.any(Object)] },
    ],
  ])('reports %s', async (_, answers, exitCode, object) => {
    const answer = await measuredJob(Object.values(answers)[0]!, answers)
    expect(answer.exitCode, answer.stderr).toBe(exitCode)
    expect(onlyObject(answer)).toMatchObject(object)
  })

  it.each([
    [
      'a job that fails',
      'time',
      'failed out of memory',
      3,
      'ERR_MEASUREMENT: the measured job: out of memory',
    ],
    [
      'an answer that is none to a verification',
      'verify',
      'maybe',
      2,
      "answer of the measured job to 'verify', got 'maybe'",
    ],
    ['an answer that is none to a call', 'call', 'no', 2, "answer of the measured job to 'call b"],
    ['times that are none', 'time', 'times 1 x', 2, "answer of the measured job to 'time', got 'times 1 x'"],
    [
      'an answer that is none to a variable',
      'read',
      '7',
      2,
      "expected an answer of the measured job to 'read",
    ],
    [
      'variables that leave settings without effect',
      'read coll_tuned_use_dynamic_rules',
      'value 0',
      2,
      "expected control variable coll_tuned_use_dynamic_rules to be '1'",
    ],
  ])('refuses %s', async (what, order, given, exitCode, message) => {
    const answer = await measuredJob(what.replaceAll(' ', '-'), { [order]: given })
    expect({ ...answer, orders: null }).toMatchObject({ exitCode, stderr: expect.stringContaining(message) })
  })
})
