import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { installedMpis } from '../support/mpi.js'
import { sourceOf } from '../support/shim.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { command, spawnCli } from '../unit/cli/spawn-cli.js'

const folder = temporaryFolder('placement')
const nodes = 4
/** Two ranks of a node share a core where there is one. */
const cores = Math.min(2, availableParallelism())
const ranks = nodes * cores

const isPossible =
  process.getuid?.() === 0 &&
  spawnSync('ip', ['netns', 'list']).status === 0 &&
  installedMpis.some(({ name }) => name === 'Open MPI')
if (!isPossible) console.warn('rank files are not tried on four nodes: they take root, iproute2 and Open MPI')

describe.skipIf(!isPossible)('rank files on four nodes of this machine', () => {
  const fourNodes = fileURLToPath(new URL('../../bench/four-nodes.sh', import.meta.url))

  it('Open MPI starts every rank where the mapping has it', async () => {
    const cwd = folder()
    const hosts = Array.from({ length: nodes }, (_, node) => `10.79.0.${node + 1} slots=${cores}\n`)
    writeFileSync(join(cwd, 'hosts'), hosts.join(''))
    // A ring whose neighbors are four ranks apart: none shares a node before.
    const edges = Array.from({ length: ranks }, (_, v) => `${v} ${(v + nodes - 1) % ranks}\n`)
    writeFileSync(join(cwd, 'graph'), edges.join(''))
    const words = ['map', 'edges:graph', '--machine', 'hosts:hosts']
    const mapped = await spawnCli([...words, '-o', 'mapping'], { cwd })
    expect(mapped.exitCode, mapped.stderr).toBe(0)
    const placed = await spawnCli([...words, '--format', 'openmpi', '-o', 'rankfile'], { cwd })
    expect(placed.exitCode, placed.stderr).toBe(0)
    const { slotOf } = JSON.parse(readFileSync(join(cwd, 'mapping'), 'utf8')) as { slotOf: number[] }

    const line = `"$FOUR_NODES_MPIRUN" --rankfile rankfile sh -c 'echo $OMPI_COMM_WORLD_RANK $(hostname)'`
    const { status, stdout, stderr } = spawnSync(fourNodes, [String(ranks), 'sh', '-c', line], {
      cwd,
      encoding: 'utf8',
    })
    expect(status, stderr).toBe(0)
    const hostOf = Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((each) => each.split(' ')),
    ) as Record<string, string>
    expect(hostOf).toEqual(
      Object.fromEntries(slotOf.map((slot, v) => [v, `rwfour${Math.floor(slot / cores) + 1}`])),
    )
  })

  it('advise runs a program in another order, and with its reorder = 1, whose nodes a rankfile names', () => {
    const cwd = folder()
    execFileSync('mpicc.openmpi', ['-w', '-pthread', '-o', join(cwd, 'traffic'), sourceOf('traffic')])
    // Neighbors of a ring are on different nodes.
    const last = availableParallelism() - 1
    const places = Array.from(
      { length: 2 * nodes },
      (_, rank) => `10.79.0.${(rank % nodes) + 1} slot=0-${last}\n`,
    )
    writeFileSync(join(cwd, 'apart'), places.map((place, rank) => `rank ${rank}=${place}`).join(''))
    const words = [...command, 'advise', '--pairs', '1', '--json', '--mpicc', 'mpicc.openmpi', '--']
    const line = `${words.map((word) => `'${word}'`).join(' ')} "$FOUR_NODES_MPIRUN" --rankfile apart ./traffic`
    const shell = [String(2 * nodes), 'sh', '-c', line]
    const { status, stdout, stderr } = spawnSync(fourNodes, shell, { cwd, encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    const { tried, untried } = JSON.parse(stdout) as Record<'tried' | 'untried', { name: string }[]>
    expect(tried.map(({ name }) => name).slice(0, 2), JSON.stringify(untried)).toEqual([
      'placement',
      'reordered ranks',
    ])
  })
})
