import { describe, expect, it } from 'vitest'
import { tunedParameters } from '../../../src/collective/open-mpi-settings.js'
import {
  algorithmVariable,
  libraryAlgorithms,
  libraryName,
  librarySettings,
  settingVariables,
} from '../../../src/measure/library-meter.js'
import type { Collective } from '../../../src/schedule/specification.js'
import { settingLine } from '../../../src/tuning/settings/setting.js'
import type { TuningCall } from '../../../src/tuning/settings/tuning-call.js'
import { tunedSettings } from '../../support/steiner-settings.js'
import { tunedNames } from '../../support/tuned-names.js'

/** The values of variables of Open MPI 4.1.4 and MPICH 4.0.2, as a job describes them. */
const described = {
  bcast:
    'enum 0=ignore 1=basic_linear 2=chain 3=pipeline 4=split_binary_tree 5=binary_tree 6=binomial 7=knomial 8=scatter_allgather 9=scatter_allgather_ring',
  allreduce:
    'enum 0=ignore 1=basic_linear 2=nonoverlapping 3=recursive_doubling 4=ring 5=segmented_ring 6=rabenseifner',
  allgather: 'enum 0=ignore 1=linear 2=bruck 3=recursive_doubling 4=ring 5=neighbor 6=two_proc',
  alltoall: 'enum 0=ignore 1=linear 2=pairwise 3=modified_bruck 4=linear_sync 5=two_proc',
} as const
const mpichBcast =
  'enum 0=auto 1=binomial 2=nb 3=smp 4=scatter_recursive_doubling_allgather 5=scatter_ring_allgather'

const call = (
  collective: Collective,
  nodes: number,
  processesPerNode: number,
  bytes: number,
): TuningCall => ({
  ...{ collective, nodes, processesPerNode, bytes },
})
const options = { elementType: 'float64', segments: [0, 8192] } as const
const tuned = (collective: keyof typeof described) => libraryAlgorithms(described[collective])
const openMpiLines = (collective: keyof typeof described, nodes: number, processes: number, bytes: number) =>
  librarySettings('Open MPI', tuned(collective), call(collective, nodes, processes, bytes), options).map(
    settingLine,
  )

describe('a library of MPI', () => {
  it.each([
    ['Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4', { kind: 'Open MPI', version: '4.1.4' }],
    ['MPICH Version:\t4.0.2', { kind: 'MPICH', version: '4.0.2' }],
    ['Intel(R) MPI Library 2021.9 for Linux* OS', null],
  ])('that reports %j is known by name and version, or unknown', (text, name) => {
    expect(libraryName(text)).toEqual(name)
  })

  it('names its algorithms by a list: Open MPI', () => {
    expect(algorithmVariable('Open MPI', 'reduce-scatter')).toBe('coll_tuned_reduce_scatter_algorithm')
    for (const [collective, names] of Object.entries(tunedNames))
      expect([...tuned(collective as keyof typeof described).keys()].sort()).toEqual([...names].sort())
  })

  it('names its algorithms by a list: MPICH', () => {
    expect(algorithmVariable('MPICH', 'reduce-scatter')).toBe('MPIR_CVAR_REDUCE_SCATTER_INTRA_ALGORITHM')
    expect([...libraryAlgorithms(mpichBcast)]).toEqual([
      ['binomial', 1],
      ['nb', 2],
      ['smp', 3],
      ['scatter_recursive_doubling_allgather', 4],
      ['scatter_ring_allgather', 5],
    ])
  })

  it.each([['none'], ['enum'], ['enum 0=auto']])('has only its default where it reports %s', (text) => {
    const algorithms = libraryAlgorithms(text)
    expect(librarySettings('MPICH', algorithms, call('bcast', 2, 2, 8), options)).toEqual([
      { collective: 'bcast', algorithm: 'default', parameters: {} },
    ])
  })
})

describe('settings of a library that serve a call', () => {
  it('begin with its default, and have parameters with values that make a difference', () => {
    expect(openMpiLines('bcast', 2, 2, 8)).toEqual([
      ...['default', 'basic_linear', 'chain:fanout=4', 'chain:fanout=2', 'pipeline', 'split_binary_tree'],
      ...['binary_tree', 'binomial', 'knomial:radix=4', 'knomial:radix=2', 'scatter_allgather'],
      'scatter_allgather_ring',
    ])
    expect(openMpiLines('bcast', 2, 2, 65_536)).toContain('chain:fanout=2,segment=8192')
  })

  it('leave out what Open MPI would silently do by another algorithm', () => {
    expect(openMpiLines('allgather', 1, 3, 8)).toEqual(['default', 'linear', 'bruck', 'ring'])
    expect(openMpiLines('allgather', 1, 2, 8)).toContain('two_proc')
    expect(openMpiLines('allreduce', 1, 4, 8)).toEqual([
      ...['default', 'basic_linear', 'nonoverlapping', 'recursive_doubling'],
    ])
    expect(openMpiLines('allreduce', 1, 4, 65_536)).toEqual(
      expect.arrayContaining(['ring', 'segmented_ring:segment=8192', 'rabenseifner']),
    )
    expect(openMpiLines('allreduce', 1, 4, 16_384)).not.toContain('segmented_ring:segment=8192')
    expect(openMpiLines('bcast', 1, 4, 12_288)).not.toContain('split_binary_tree:segment=8192')
  })

  it('leave out two levels of MPICH where there is one', () => {
    const algorithms = libraryAlgorithms(mpichBcast)
    const lines = (nodes: number, processes: number) =>
      librarySettings('MPICH', algorithms, call('bcast', nodes, processes, 8), options).map(settingLine)
    expect(lines(2, 2)).toContain('smp')
    expect(lines(1, 4)).not.toContain('smp')
    expect(lines(1, 3)).toEqual(['default', 'binomial', 'nb', 'scatter_ring_allgather'])
  })

  it('are made by control variables, those of Open MPI the ones that mpirun sets', () => {
    for (const setting of tunedSettings) {
      const { coll_tuned_use_dynamic_rules: _, ...parameters } = tunedParameters(setting)
      const { collective, algorithm, segmentBytes = 0, ...values } = setting
      const made = settingVariables('Open MPI', tuned(collective), {
        ...{ collective, algorithm },
        parameters: { ...values, ...(segmentBytes === 0 ? {} : { segment: segmentBytes }) },
      })
      const number = tuned(collective).get(algorithm)
      const byName = { ...parameters, [`coll_tuned_${collective}_algorithm`]: `${number}` }
      expect(Object.fromEntries(Object.entries(made).map(([name, value]) => [name, `${value}`]))).toEqual(
        byName,
      )
    }
  })

  it('leave the default to the library, and those of MPICH are not composed by its device', () => {
    const bcast = libraryAlgorithms(mpichBcast)
    const variables = (algorithm: string) =>
      settingVariables('MPICH', bcast, { collective: 'bcast', algorithm, parameters: {} })
    expect(variables('default')).toEqual({})
    expect(variables('nb')).toEqual({
      MPIR_CVAR_BCAST_INTRA_ALGORITHM: 2,
      MPIR_CVAR_BCAST_DEVICE_COLLECTIVE: 0,
    })
  })
})
