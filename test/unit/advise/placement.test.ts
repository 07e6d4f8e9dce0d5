import { describe, expect, it } from 'vitest'
import {
  hostsOfCommand,
  type PlacementPlan,
  type PlacingLauncher,
  packagePlacesText,
  placedCommand,
  placementOf,
  placesText,
  plannedPlacement,
} from '../../../src/advise/placement.js'
import type { Profile } from '../../../src/profile/profile.js'

/** The traffic of a ring of ranks that send each other one message of so many bytes. */
function ring(ranks: number, bytes: number) {
  const edges = Array.from({ length: 2 * ranks }, (_, e) => {
    const source = e >> 1
    const destination = (source + (e % 2 === 0 ? 1 : ranks - 1)) % ranks
    return { source, destination, messages: 1, bytes }
  })
  return { ranks, edges }
}

const dealt = (ranks: number, nodes: number) => Array.from({ length: ranks }, (_, rank) => rank % nodes)
const inBlocks = (ranks: number, nodes: number) =>
  Array.from({ length: ranks }, (_, rank) => Math.floor((rank * nodes) / ranks))

describe('planning a placement', () => {
  it('puts neighbors of a ring that was dealt over four nodes together', () => {
    const plan = plannedPlacement(ring(16, 1024), dealt(16, 4))
    expect(plan?.today).toEqual({ messages: 32, bytes: 32 * 1024 })
    expect(plan?.planned).toEqual({ messages: 8, bytes: 8 * 1024 })
    const onNode = [0, 1, 2, 3].map((node) => plan?.nodeOf.filter((each) => each === node).length)
    expect(onNode).toEqual([4, 4, 4, 4])
  })

  it('finds nothing where ranks are in the best order, on one node, and without messages', () => {
    expect(plannedPlacement(ring(16, 1024), inBlocks(16, 4))).toBeNull()
    expect(plannedPlacement(ring(16, 1024), dealt(16, 1))).toBeNull()
    expect(plannedPlacement({ ranks: 16, edges: [] }, dealt(16, 4))).toBeNull()
  })

  it('keeps the numbers of ranks of uneven nodes', () => {
    const nodeOf = [0, 1, 0, 1, 0, 2]
    const plan = plannedPlacement(ring(6, 8), nodeOf)
    expect([0, 1, 2].map((node) => plan?.nodeOf.filter((each) => each === node).length)).toEqual([3, 2, 1])
  })
})

describe('a placement by a profile', () => {
  /** The profile of a ring of ranks; -1 is the package of a rank that may run in several. */
  function ringOn(nodeOf: readonly number[], packageOf: readonly number[], hasCores = true): Profile {
    const { edges, ranks } = ring(nodeOf.length, 1024)
    const processes = nodeOf.map((node, rank) => {
      const own = edges.filter(({ source }) => source === rank)
      const sends = own.map(({ destination }) => [destination, 1, 1024])
      return { rank, node, package: packageOf[rank], core: hasCores ? rank : -1, sends, blocks: [] }
    })
    return { ranks, nodes: [...new Set(nodeOf)].map((node) => `n${node}`), processes } as unknown as Profile
  }
  const one = [0, 0, 0, 0, 0, 0, 0, 0]
  const planOf = (profile: Profile, launcher: PlacingLauncher = 'Open MPI', command = ['mpirun', './p']) =>
    placementOf(profile, launcher, command)

  it('is between nodes if there are several, and else between packages to which ranks are bound', () => {
    expect(planOf(ringOn(dealt(8, 2), one))).toMatchObject({ planned: { messages: 4 } })
    for (const [hasCores, first, second] of [
      [true, '0', '1'],
      [false, '*', '*'],
    ] as const) {
      const dealtPackages = dealt(8, 2).map((place) => 2 * place)
      const profile = ringOn(one, dealtPackages, hasCores)
      const plan = planOf(profile) as PlacementPlan
      expect(plan).toMatchObject({ packages: [0, 2], today: { messages: 16 }, planned: { messages: 4 } })
      const lines = packagePlacesText(plan, 'n0', profile.processes).trim().split('\n')
      const slots = [0, 1, 2, 3, 4, 5, 6, 7].map((rank) => lines[rank].split('slot=')[1])
      const of = (number: number) => slots.filter((slot) => slot.startsWith(`${number}:`))
      expect([of(0).length, of(2).length]).toEqual([4, 4])
      expect(of(2).slice(0, 2)).toEqual([`2:${first}`, `2:${second}`])
      expect(lines[0]).toMatch(/^rank 0=n0 slot=/)
    }
  })

  it.each([
    [ringOn(inBlocks(8, 2), one), 'Open MPI', 'no other order of the ranks sends clearly less between nodes'],
    [ringOn(one, inBlocks(8, 2)), 'Open MPI', /clearly less between packages of cores$/],
    [
      ringOn(one, [0, 0, 0, 0, -1, 1, 1, 1]),
      'Open MPI',
      /^all ranks are on one node, not bound to packages of cores/,
    ],
    [ringOn(one, one), 'Open MPI', /^all ranks are on one node, in one package of cores/],
    [ringOn(one, dealt(8, 2)), 'MPICH', /, and only Open MPI is told packages of cores$/],
  ] as const)('says why there is none: %#', (profile, launcher, reason) => {
    expect(planOf(profile, launcher)).toMatch(reason)
  })

  it('is not planned for several programs in one command', () => {
    const command = ['mpirun', './p', ':', './q']
    expect(planOf(ringOn(dealt(8, 2), one), 'Open MPI', command)).toBe('the command starts several programs')
  })
})

describe('the command of a placement', () => {
  it.each([
    ['mpirun -n 16 ./program -N 5', 'Open MPI', 'mpirun --rankfile places -n 16 ./program -N 5'],
    [
      'mpirun --map-by node --hostfile hosts --mca btl tcp,self -N 4 ./program',
      'Open MPI',
      'mpirun --rankfile places --hostfile hosts --mca btl tcp,self ./program',
    ],
    ['mpiexec -f hosts -ppn 2 -n 4 ./program', 'MPICH', 'mpiexec -f places -n 4 ./program'],
    [
      'srun --mpi=pmix -O -N4 --ntasks 16 -w a,b -mcyclic ./program -w 2',
      'Slurm',
      'srun --distribution=arbitrary --nodelist=./places --mpi=pmix -O -N4 --ntasks 16 ./program -w 2',
    ],
    [
      'srun --exclusive --nodes 4 --ntasks-per-node=4 --nodelist a,b --distribution=block ./program',
      'Slurm',
      'srun --distribution=arbitrary --nodelist=./places -n 16 --exclusive --nodes 4 ./program',
    ],
  ] as const)('of %s for %s', (command, launcher, expected) => {
    expect(placedCommand(command.split(' '), { launcher, file: 'places', ranks: 16 }).join(' ')).toBe(
      expected,
    )
  })

  it('names nodes as the command does', () => {
    const contents = () => '# nodes\n10.0.0.1 slots=4\n10.0.0.2 slots=4 # the second\n'
    const hostsOf = (words: string, from = contents) => hostsOfCommand(words.split(' '), from, [0, 1, 0])
    expect(hostsOf('mpirun --hostfile hosts ./p')).toEqual(['10.0.0.1', '10.0.0.2'])
    expect(hostsOf('mpirun -H a:2,b:2,a ./p')).toEqual(['a', 'b'])
    expect(hostsOf('mpirun -n 2 ./p -H x')).toBeNull()
    const ranks = () => 'rank 1=b slot=0\nrank 0=a slot=0-1\nrank 2=a slot=1\n'
    expect(hostsOf('mpirun --hostfile hosts --rankfile ranks ./p', ranks)).toEqual(['a', 'b'])
    expect(hostsOf('mpirun -rf ranks ./p', () => 'rank 0=a slot=0\n')).toBeNull()
  })

  it('gives each rank a core, or all of a node that has too few', () => {
    const places = { launcher: 'Open MPI' as const, nodeOf: [1, 0, 1], hosts: ['a', 'b'] }
    expect(placesText({ ...places, cores: 2 })).toBe('rank 0=b slot=0\nrank 1=a slot=0\nrank 2=b slot=1\n')
    expect(placesText({ ...places, cores: 1 })).toBe('rank 0=b slot=0\nrank 1=a slot=0\nrank 2=b slot=0\n')
    const four = { ...places, nodeOf: [1, 0, 1, 1], cores: 2 }
    expect(placesText(four)).toContain('rank 1=a slot=0-1\n')
    expect(placesText({ ...places, launcher: 'MPICH', cores: 1 })).toBe('b:1\na:1\nb:1\n')
    const named = { ...places, launcher: 'Slurm' as const, hosts: ['a', 'b.domain'], cores: 1 }
    expect(placesText(named)).toBe('b\na\nb\n')
  })
})
