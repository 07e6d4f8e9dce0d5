/**
 * The way of every block to every destination, hop by hop: what a strategy that combines messages is,
 * whatever the topology. `hop(h, source, destination)` is the rank that holds the block of `source`, on its
 * way to `destination`, after hop h, for h from 0 to `hops - 1`. Before hop 0 the source holds it; after the
 * last hop the destination does. A block may rest during a hop, and ways to several destinations may share a
 * beginning: a message is sent once for all of them.
 *
 * Pure: the same arguments give the same rank in every process.
 */
export interface Route {
  readonly hops: number
  hop(h: number, source: number, destination: number): number
}
