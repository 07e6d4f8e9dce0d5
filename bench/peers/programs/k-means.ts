import { expectClose, type Program, type Share, shareOf, sharesOf, unit } from '../program.js'

const points = 50_000
const dims = 8
const clusters = 16
const steps = 10

/** Points, some of which are assigned to the nearest of the centers. */
export interface Assignment extends Share {
  readonly coordinates: Float64Array
  readonly centers: Float64Array
}

/** Returns for each cluster the sums of the coordinates of its points, then how many they are. */
export function sumsOfClusters({ coordinates, centers, begin, end }: Assignment): Float64Array {
  const sums = new Float64Array(clusters * (dims + 1))
  for (let at = begin * dims; at < end * dims; at += dims) {
    let nearest = 0
    let least = Number.POSITIVE_INFINITY
    for (let cluster = 0; cluster < clusters; cluster++) {
      let distance = 0
      for (let d = 0; d < dims; d++) {
        const difference = coordinates[at + d] - centers[cluster * dims + d]
        distance += difference * difference
      }
      if (distance < least) {
        nearest = cluster
        least = distance
      }
    }
    for (let d = 0; d < dims; d++) sums[nearest * dims + d] += coordinates[at + d]
    sums[clusters * dims + nearest]++
  }
  return sums
}

/** A cluster without points keeps its center. */
function centersOf(sums: Float64Array, before: Float64Array): Float64Array {
  return before.map((center, at) => {
    const count = sums[clusters * dims + Math.floor(at / dims)]
    return count === 0 ? center : sums[at] / count
  })
}

const sumOf = (parts: readonly Float64Array[]) =>
  parts.reduce((all, each) => all.map((sum, at) => sum + each[at]))

function fill(coordinates: Float64Array, firstPoint = 0): Float64Array {
  for (let at = 0; at < coordinates.length; at++) coordinates[at] = unit(firstPoint * dims + at)
  return coordinates
}

/** The first points. */
const firstCenters = () => fill(new Float64Array(clusters * dims))

function plain() {
  const coordinates = fill(new Float64Array(points * dims))
  return () => {
    let centers = firstCenters()
    for (let step = 0; step < steps; step++)
      centers = centersOf(sumsOfClusters({ coordinates, centers, begin: 0, end: points }), centers)
    return centers
  }
}

/** Lloyd's algorithm: in each step all parts need small sums over all points. */
export const kMeans: Program = {
  loops: 3,
  plain,
  inPool(pool, parts) {
    const coordinates = fill(new Float64Array(new SharedArrayBuffer(8 * points * dims)))
    const shares = sharesOf(points, parts)
    return async () => {
      let centers = firstCenters()
      for (let step = 0; step < steps; step++) {
        const sums = await Promise.all(
          shares.map((share) => pool.run<Float64Array>('sumsOfClusters', { coordinates, centers, ...share })),
        )
        centers = centersOf(sumOf(sums), centers)
      }
      return centers
    }
  },
  async onRanks(world) {
    const { begin, end } = shareOf(points, world.rank, world.size)
    const coordinates = fill(new Float64Array((end - begin) * dims), begin)
    return async () => {
      let centers = firstCenters()
      for (let step = 0; step < steps; step++) {
        const sums = sumsOfClusters({ coordinates, centers, begin: 0, end: end - begin })
        centers = centersOf(await world.allreduce(sums, 'sum'), centers)
      }
      return world.rank === 0 ? centers : null
    }
  },
  onTeam({ rank, size, barrier, shared }) {
    const { begin, end } = shareOf(points, rank, size)
    const coordinates = fill(new Float64Array((end - begin) * dims), begin)
    const parts = Array.from({ length: size }, () => shared(clusters * (dims + 1)))
    return () => {
      let centers = firstCenters()
      for (let step = 0; step < steps; step++) {
        parts[rank].set(sumsOfClusters({ coordinates, centers, begin: 0, end: end - begin }))
        barrier()
        centers = centersOf(sumOf(parts), centers)
        barrier()
      }
      return rank === 0 ? centers : null
    }
  },
  check: (result) => expectClose(result, plain()(), 1e-9),
}
