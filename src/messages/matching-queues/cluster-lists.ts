import { Chain } from './chain.js'
import { overheads, type Traversals } from './design.js'
import type { MatchingElement, MatchingKey } from './element.js'
import { noLevels, type RoutingCounters, type SourceRouting } from './routed-design.js'
import type { SourceClusters } from './source-clusters.js'

/**
 * A list for each cluster of sources, by how many elements each source added in an earlier run. All elements of a
 * source are in one list, so a search passes that list only.
 *
 * @see Ghazimirsaeed 2019 chapter 3 (CLUST; the clusters are its matrix B)
 */
export class ClusterLists<E extends MatchingElement> implements SourceRouting<E> {
  readonly #clusterOf: Int32Array
  readonly #lists: readonly Chain<E>[]

  constructor({ clusterOf, clusters }: SourceClusters) {
    this.#clusterOf = clusterOf
    this.#lists = Array.from({ length: clusters }, () => new Chain<E>())
  }

  append(element: E): void {
    this.#lists[this.#clusterOf[element.source]].append(element)
  }

  find(key: MatchingKey, passed: Traversals): E | undefined {
    return this.#lists[this.#clusterOf[key.source]].find(key, passed)
  }

  chains(): readonly Chain<E>[] {
    return this.#lists
  }

  counters(): RoutingCounters {
    const { length } = this.#lists
    const overheadBytes = length * overheads.listBytes + this.#clusterOf.byteLength
    return { ...noLevels, queues: length, overheadBytes }
  }
}
