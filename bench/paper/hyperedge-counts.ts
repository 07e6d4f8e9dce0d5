import { nodeOf } from '../../src/machine/machine.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { countHyperedges } from '../../src/topology/friends/hyperedges.js'
import { erdosRenyiTopology } from '../../src/topology/generate/random-graphs.js'
import { mooreTopology } from '../../src/topology/generate/stencil.js'
import { densities, graham, grids, mooreSizes, niagara } from './chapter.js'

/** Hyperedges of k ranks with more than theta common neighbors: theta is k(k-1) agnostic, k aware. */
export interface HyperedgeRow {
  readonly setting: string
  readonly mode: 'agnostic' | 'aware'
  readonly counts: readonly HyperedgesOfSize[]
}

export interface HyperedgesOfSize {
  readonly k: number
  /**
   * Mean number of hyperedges with a rank in them; null where counting takes more than {@link workLimit}
   * steps.
   */
  readonly perRank: number | null
}

/** Words of bitsets read: some seconds. */
export const workLimit = 5e8

export const randomHyperedgeSizes = [2, 3, 4, 5, 6] as const

/** Figures 7.5 and 7.7: hyperedges per rank of Moore neighborhoods. */
export function mooreHyperedges(onSetting: (name: string) => void = () => {}): HyperedgeRow[] {
  const nodes = nodeOf(parseMachine(niagara), 4096)
  return grids.flatMap(({ name, dims, radius }) => {
    onSetting(name)
    const topology = mooreTopology({ dims: [...dims], radius })
    return (['agnostic', 'aware'] as const).map((mode): HyperedgeRow => {
      const counts = mooreSizes.map((k) => {
        const options =
          mode === 'aware' ? { k, theta: k, nodeOf: nodes, workLimit } : { k, theta: k * (k - 1), workLimit }
        const counted = countHyperedges(topology, options)
        return { k, perRank: counted.kind === 'counted' ? counted.meanPerRank : null }
      })
      return { setting: name, mode, counts }
    })
  })
}

/** Figure 7.9: hyperedges per rank of random graphs, aware. */
export function randomHyperedges(onSetting: (name: string) => void = () => {}): HyperedgeRow[] {
  const nodes = nodeOf(parseMachine(graham), 1024)
  return densities.map((density): HyperedgeRow => {
    const setting = `density ${density}`
    onSetting(setting)
    const topology = erdosRenyiTopology({ ranks: 1024, density, seed: 1 })
    const counts = randomHyperedgeSizes.map((k) => {
      const counted = countHyperedges(topology, { k, theta: k, nodeOf: nodes, workLimit })
      return { k, perRank: counted.kind === 'counted' ? counted.meanPerRank : null }
    })
    return { setting, mode: 'aware', counts }
  })
}
