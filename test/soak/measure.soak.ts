import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readMeasurementFiles } from '../../src/cli/input/measured-input.js'
import { measuredData } from '../../src/tuning/measured/measured-data.js'
import { describeMpi, installedMpis, launchWords } from '../support/mpi.js'
import { compilerOf } from '../support/mpi-collectives.js'
import { sampled, tier } from '../support/soak.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { onlyObject } from '../unit/cli/run-cli.js'
import { command, spawnCli } from '../unit/cli/spawn-cli.js'

const folder = temporaryFolder('measure')
const collectives = [
  ...['barrier', 'bcast', 'scatter', 'gather', 'allgather', 'alltoall'],
  ...['reduce', 'allreduce', 'reduce-scatter', 'scan', 'exscan'],
]
const bytes = sampled([8, 64, 512, 4096, 24, 32_768, 65_536, 262_144], 3).join(',')
const few = ['--repetitions', tier === 'long' ? '40' : '3', '--budget', tier === 'long' ? '500' : '20']

/** Every collective, and of every call the default. */
function expectComplete(file: string, points: unknown): void {
  const data = measuredData(readMeasurementFiles([file]))
  expect(data.setting).toHaveLength(points as number)
  expect(new Set(data.calls.map(({ collective }) => collective))).toEqual(new Set(collectives))
  data.calls.forEach((_, row) => {
    const settings = Array.from(data.setting.subarray(data.rowStart[row], data.rowStart[row + 1]))
    expect(settings.map((index) => data.settings[index].algorithm)).toContain('default')
  })
}

describeMpi('measure', (mpi) => {
  const mpicc = compilerOf(mpi)
  const launch = (processes: number) => launchWords(mpi, processes).join(' ')

  // Two processes have algorithms of their own, three are no power of two.
  it.skipIf(mpicc === null).each(sampled([3, 2, 4], 3))(
    'has right results by every algorithm of %i processes',
    async (processes) => {
      const file = join(folder(), `${mpi.name}-${processes}.jsonl`.replace(' ', '-'))
      const words = ['--source', 'mpi', '--mpicc', mpicc!, '--launch', launch(processes), '--bytes', bytes]
      const answer = await spawnCli([
        ...['measure', ...collectives, ...words, ...few, '--spreads', `1x${processes}`],
        ...['--segments', '0,1000', '-o', file, '--json'],
      ])
      expect(answer.exitCode, answer.stderr).toBe(0)
      const object = onlyObject(answer)
      expect(object).toMatchObject({ skipped: 0, refused: 0, wrong: [] })
      expectComplete(file, object['points'])
      const checked = await spawnCli(['measure', '--check', file, '--json'])
      expect([0, 1]).toContain(checked.exitCode)
    },
  )

  it('has right results by every algorithm of rankweave in its jobs', async () => {
    const file = join(folder(), `own-${mpi.name}.jsonl`.replace(' ', '-'))
    const words = ['measure', ...collectives, '--fabric', 'mpi', '--bytes', bytes, ...few, '--spreads', '1x3']
    const [launcher, ...rest] = [...launch(3).split(' '), ...command, ...words, '-o', file, '--json']
    const { status, stdout, stderr } = spawnSync(launcher, rest, { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    const object = onlyObject({ exitCode: status!, stdout, stderr })
    expect(object).toMatchObject({ skipped: 0, refused: 0, wrong: [] })
    expectComplete(file, object['points'])
  })
})

const isPossible =
  process.getuid?.() === 0 &&
  spawnSync('ip', ['netns', 'list']).status === 0 &&
  installedMpis.some(({ name }) => name === 'Open MPI')
if (!isPossible) console.warn('four nodes are not measured: they take root, iproute2 and Open MPI')

describe.skipIf(!isPossible)('measure on four nodes of this machine', () => {
  const nodes = fileURLToPath(new URL('../../bench/four-nodes.sh', import.meta.url))

  it('finds the nodes, and measures parts of them', async () => {
    const file = join(folder(), 'four-nodes.jsonl')
    const [measured, lengths] =
      tier === 'long' ? [collectives, '8,512,4KiB,64KiB,256KiB'] : [['bcast', 'allreduce'], '8,4096']
    const words = [...command, 'measure', ...measured, '--source', 'mpi', '--mpicc', 'mpicc.openmpi']
    const effort = `--bytes ${lengths} --repetitions 3 --budget 20`
    const line = `${words.join(' ')} --launch "$FOUR_NODES_MPIRUN" ${effort} -o ${file} --json`
    const { status, stdout, stderr } = spawnSync(nodes, ['8', 'sh', '-c', line], { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    expect(onlyObject({ exitCode: status!, stdout, stderr })).toMatchObject({ refused: 0, wrong: [] })
    const { calls } = measuredData(readMeasurementFiles([file]))
    const spreads = calls.map((call) => `${call.nodes}x${call.processesPerNode}`)
    expect([...new Set(spreads)].sort()).toEqual(['1x2', '2x1', '2x2', '4x1', '4x2'])
  })
})
