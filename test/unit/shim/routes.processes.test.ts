import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, it } from 'vitest'
import { strategyKind } from '../../../src/neighborhood/strategies/strategies.js'
import { parseStrategy } from '../../../src/neighborhood/strategies/strategy-text.js'
import { topologyFromEdges } from '../../../src/topology/topology-builders.js'
import { describeEitherMpi } from '../../support/mpi.js'
import { compilerOf } from '../../support/mpi-collectives.js'
import { compileProgram } from '../../support/shim.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const sources = ['shim', 'export'].map((room) =>
  fileURLToPath(new URL(`../../../src/${room}/c`, import.meta.url)),
)

/** The ranks that a block passes. The library has no steps in which no block moves. */
const way = (source: number, hops: readonly number[]) =>
  [source, ...hops].filter((rank, h, all) => h === 0 || rank !== all[h - 1])

describeEitherMpi('routes of the preloaded library', (mpi) => {
  const mpicc = compilerOf(mpi)
  const folder = temporaryFolder('shim-routes')
  let hops: string

  beforeAll(() => {
    if (mpicc === null) return
    const flags = [...sources.map((path) => `-I${path}`), '-D_GNU_SOURCE', '-DRW_MPI(name)=PMPI_##name']
    hops = compileProgram(folder(), mpicc, 'hops', flags)
  })

  it
    .skipIf(mpicc === null)
    .each([
      ...[['routed:radices=2.2.2.2'], ['routed:radices=4.4'], ['routed:radices=3.5']],
      ...[['hierarchical:between=2.2,inside=2.2'], ['hierarchical:between=3,inside=4']],
      ...[['hierarchical:between=4,inside=3.2'], ['hierarchical:inside=4,between=3']],
      ...[['routed'], ['hierarchical'], ['hierarchical:inside=2.2']],
    ])('%s leads through the ranks of the strategy', (text) => {
    const cores = 4
    for (const ranks of [2, 7, 11, 12]) {
      const nodeOf = Int32Array.from({ length: ranks }, (_, rank) => Math.floor(rank / cores))
      const topology = topologyFromEdges(ranks, { sources: [], destinations: [] })
      const strategy = parseStrategy(text)
      const route = strategyKind(strategy).route(strategy, { topology, nodeOf })
      const lines = execFileSync(hops, [text, String(ranks), String(cores)], { encoding: 'utf8' }).split('\n')
      for (let source = 0; source < ranks; source++) {
        for (let destination = 0; destination < ranks; destination++) {
          const hop = (_: unknown, h: number) => route.hop(h, source, destination)
          const found = lines[source * ranks + destination].trim().split(' ')
          expect(way(source, found.map(Number)), `${ranks} ranks, from ${source} to ${destination}`).toEqual(
            way(source, Array.from({ length: route.hops }, hop)),
          )
        }
      }
    }
  })
  // 12 ranks on 3 nodes.
  const accepted = (text: string) => {
    const topology = topologyFromEdges(12, { sources: [], destinations: [] })
    const nodeOf = Int32Array.from({ length: 12 }, (_, rank) => Math.floor(rank / 4))
    try {
      const strategy = parseStrategy(text)
      strategyKind(strategy).check?.(strategy, 12)
      return strategyKind(strategy).route(strategy, { topology, nodeOf }) !== undefined
    } catch {
      return false
    }
  }

  it.skipIf(mpicc === null).each([
    ['routed:radices=2', 'routed:radices=2.2.2.2'],
    ['routed:radices=3.2', 'routed:radices=3.2.2'],
    ['hierarchical:between=2,inside=2', 'hierarchical:between=2.2,inside=2.2'],
    ['hierarchical:inside=2', 'hierarchical:between=2.2,inside=2.2'],
  ])('%s is refused, as rankweave export refuses it, and %s is named', (text, whole) => {
    expect(accepted(text)).toBe(false)
    expect(accepted(whole)).toBe(true)
    expect(spawnSync(hops, [text, '12', '4'], { encoding: 'utf8' })).toMatchObject({
      status: 4,
      stdout: `${whole}\n`,
    })
  })

  it
    .skipIf(mpicc === null)
    .each([
      'routed:',
      'routed:radices=',
      'routed:radices=1',
      'routed:radix=4.4',
      'routed:radices=4.4,',
      'hierarchical:3',
    ])('%s is refused, as rankweave export refuses it', (text) => {
    expect(accepted(text)).toBe(false)
    expect(spawnSync(hops, [text, '12', '4']).status).toBe(3)
  })
})
