import { expect, it } from 'vitest'
import { type OsuRun, osuMeasurements, readOsuOutput } from '../../../../src/tuning/measured/osu-output.js'
import { refusal } from '../../../support/refusal.js'

const lines = (...all: readonly string[]) => `\n${all.join('\n')}\n`
const full = '# Size         Avg Latency(us)     Min Latency(us)     Max Latency(us)  Iterations'

/** Outputs of OSU Micro-Benchmarks 7.4 and 5.3.2 with Open MPI 4.1.4 on two processes. */
const outputs = {
  allreduce: lines(
    '# OSU MPI Allreduce Latency Test v7.4',
    '# Datatype: MPI_CHAR.',
    full,
    '4                         0.86                0.84                0.88         200',
    '8                         0.55                0.51                0.59         200',
  ),
  barrier: lines(
    '# OSU MPI Barrier Latency Test v7.4',
    '# Avg Latency(us)     Min Latency(us)     Max Latency(us)  Iterations',
    '             0.41                0.41                0.41         200',
  ),
  bcast: lines(
    '# OSU MPI Broadcast Latency Test v7.4',
    '# Datatype: MPI_CHAR.',
    '# Size         Avg Latency(us)          Validation',
    '1                         0.32                Pass',
    '2                         0.33                Pass',
  ),
  reduce: lines(
    '# OSU MPI Reduce Latency Test v7.4',
    '# Datatype: MPI_INT.',
    full,
    '4                         0.38                0.05                0.70         100',
  ),
  alltoall: lines(
    '# OSU MPI All-to-All Personalized Exchange Latency Test v7.4',
    '# Datatype: MPI_CHAR.',
    `${full}    P50 Tail Lat(us)    P99 Tail Lat(us)`,
    '1                         0.41                0.40                0.42         100                0.37                0.65',
  ),
  old: lines(
    '# OSU MPI Allreduce Latency Test v5.3.2',
    full,
    '4                         0.47                0.42                0.52         100',
  ),
}

it.each([
  [
    'allreduce',
    'allreduce',
    '7.4',
    'slowest rank',
    'MPI_CHAR',
    [
      [4, 0.88],
      [8, 0.59],
    ],
  ],
  ['barrier', 'barrier', '7.4', 'slowest rank', null, [[0, 0.41]]],
  [
    'bcast',
    'bcast',
    '7.4',
    'mean of ranks',
    'MPI_CHAR',
    [
      [1, 0.32],
      [2, 0.33],
    ],
  ],
  ['reduce', 'reduce', '7.4', 'slowest rank', 'MPI_INT', [[4, 0.7]]],
  ['alltoall', 'alltoall', '7.4', 'slowest rank', 'MPI_CHAR', [[1, 0.42]]],
  ['old', 'allreduce', '5.3.2', 'slowest rank', null, [[4, 0.52]]],
] as const)('readOsuOutput reads the output of %s', (name, collective, version, column, datatype, rows) => {
  const { rows: read, ...output } = readOsuOutput(outputs[name], 'out.txt')
  expect(output).toEqual({ file: 'out.txt', collective, version, column, datatype })
  expect(read.map(({ bytes, timeUs }) => [bytes, timeUs])).toEqual(rows)
})

const { allreduce, barrier, bcast } = outputs
it.each([
  ['an empty file', '', /out\.txt, line 2: expected '# OSU MPI NAME Latency Test' .*got the end of the file/],
  ['another benchmark', '# OSU MPI Latency Test v7.4\n', /line 1: expected '# OSU MPI NAME Latency Test'/],
  ['device memory', allreduce.replace('MPI Allr', 'MPI-CUDA Allr'), /line 2: expected a test on host memory/],
  ['a test of another kind', allreduce.replace('MPI Allr', 'MPI Non-blocking Allr'), /line 2: expected/],
  ['no columns', allreduce.replace(full, ''), /line 5: expected the names of columns/],
  ['two datatypes', `${allreduce}# Datatype: MPI_INT.\n`, /line 7: expected 5 columns, got '# Datatype/],
  ['a repeated size', allreduce.replace('\n8 ', '\n4 '), /line 6: expected another size in bytes/],
  ['a cut row', allreduce.replace(/ +0\.59 +200/, ''), /line 6: expected 5 columns/],
  ['a time of 0', allreduce.replace('0.59', '0.00'), /line 6: expected a latency above 0/],
  ['a hexadecimal time', allreduce.replace('0.59', '0x10'), /line 6: expected a latency above 0/],
  ['a word as time', allreduce.replace('0.59', 'nan'), /line 6: expected a latency above 0/],
  ['failed validation', bcast.replace(/Pass\n$/, 'Fail\n'), /line 6: expected 'Pass' as validation/],
  ['sizes of a barrier', barrier.replace('# Avg', '# Size  Avg'), /line 3: expected no sizes of a barrier/],
  ['no rows', bcast.replaceAll(/\n\d.*/g, ''), /expected rows of latencies, got the end of the file/],
])('readOsuOutput refuses %s', (_, text, message) => {
  expect(() => readOsuOutput(text, 'out.txt')).toThrow(refusal('ERR_MEASUREMENT', message))
})

const run = (text: string, algorithm: string, file = 'out.txt'): OsuRun => {
  const output = readOsuOutput(text, file)
  return {
    output,
    setting: { collective: output.collective, algorithm, parameters: {} },
    ...{ nodes: 4, processesPerNode: 8 },
  }
}
const source = { library: 'Open MPI 4.1.4', machine: 'grig' }

it('osuMeasurements joins repetitions of a setting, and names tests, column and datatype in the source', () => {
  const again = allreduce.replace('0.88', '0.98').replace('\n8', '\n16')
  const runs = [run(allreduce, 'ring'), run(again, 'ring'), run(allreduce, 'default'), run(barrier, 'tree')]
  const measured = osuMeasurements(runs, source)
  expect(
    measured.map(({ collective, algorithm, bytes, timesUs }) => [collective, algorithm, bytes, timesUs]),
  ).toEqual([
    ['allreduce', 'ring', 4, [0.88, 0.98]],
    ['allreduce', 'ring', 8, [0.59]],
    ['allreduce', 'ring', 16, [0.59]],
    ['allreduce', 'default', 4, [0.88]],
    ['allreduce', 'default', 8, [0.59]],
    ['barrier', 'tree', 0, [0.41]],
  ])
  expect(measured[0]).toMatchObject({
    source: { kind: 'mpi', name: 'Open MPI 4.1.4', machine: 'grig (OSU 7.4, slowest rank, MPI_CHAR)' },
    ...{ nodes: 4, processesPerNode: 8, intervalUs: [0.88, 0.98] },
  })
})

it.each([
  [
    'versions',
    [run(allreduce, 'ring'), run(outputs.old, 'ring', 'old.txt')],
    /old\.txt: expected times as in out/,
  ],
  ['columns', [run(allreduce, 'ring'), run(bcast, 'chain')], /got OSU 7\.4, mean of ranks/],
  [
    'datatypes',
    [run(allreduce, 'ring'), run(outputs.reduce, 'linear')],
    /expected reductions of MPI_CHAR, .*INT/,
  ],
  [
    'collectives',
    [{ ...run(allreduce, 'ring'), setting: { collective: 'bcast', algorithm: 'chain', parameters: {} } }],
    /out\.txt: expected a test of bcast, got allreduce/,
  ],
] as const)('osuMeasurements refuses outputs of other %s', (_, runs, message) => {
  expect(() => osuMeasurements(runs, source)).toThrow(refusal('ERR_MEASUREMENT', message))
})
