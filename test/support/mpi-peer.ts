import type { MpiSession } from 'rankweave/fabric'

/** Numbers of one rank after one operation, as MPI or as we have them; null where the rank is no member. */
export type Outcome = readonly number[] | null

const typeOf = { h: 'handle', i: 'int', a: 'address' } as const

/** MPI's own calls, blocking, on ints; every process is one rank of MPI_COMM_WORLD. */
export class MpiPeer {
  readonly #job: MpiSession['job']
  /** Memory that outlives the calls. */
  readonly #kept = new Set<Int32Array>()

  constructor(job: MpiSession['job']) {
    this.#job = job
  }

  split(color: number | null, key: number): Outcome {
    const { abi } = this.#job.library
    const made = this.#room(2)
    this.#call('MPI_Comm_split', 'hiia')(abi.commWorld, color ?? abi.undefined, key, this.#at(made))
    return this.#members(made)
  }

  cart(dims: readonly number[], periods: readonly boolean[]): Outcome {
    const { abi } = this.#job.library
    const made = this.#room(2)
    const wraps = periods.map(Number)
    this.#call('MPI_Cart_create', 'hiaaia')(
      abi.commWorld,
      dims.length,
      this.#ints(dims),
      this.#ints(wraps),
      0,
      this.#at(made),
    )
    const comm = this.#handle(made)
    if (comm === abi.commNull) return null
    const place = this.#room(1 + dims.length + 2 * dims.length)
    this.#call('MPI_Comm_rank', 'ha')(comm, this.#at(place))
    const coords = this.#call('MPI_Cart_coords', 'hiia')
    coords(comm, place[0], dims.length, this.#at(place) + 4)
    const shift = this.#call('MPI_Cart_shift', 'hiiaa')
    for (let d = 0; d < dims.length; d++) {
      const at = this.#at(place) + 4 * (1 + dims.length + 2 * d)
      shift(comm, d, 1, at, at + 4)
    }
    const ranks = [...place].map((value, n) => (n > dims.length && value === abi.procNull ? -1 : value))
    const data = this.#neighborAllgather(comm, place[0], 2 * dims.length)
    this.#free(made)
    return [...ranks, ...data]
  }

  /** Own neighbors, which both sides list. */
  adjacent(sources: readonly number[], destinations: readonly number[], rank: number): Outcome {
    const { abi } = this.#job.library
    const made = this.#room(2)
    this.#call('MPI_Dist_graph_create_adjacent', 'hiaaiaahia')(
      abi.commWorld,
      sources.length,
      this.#ints(sources),
      this.#ones(sources.length),
      destinations.length,
      this.#ints(destinations),
      this.#ones(destinations.length),
      abi.infoNull,
      0,
      this.#at(made),
    )
    const comm = this.#handle(made)
    const data = this.#neighborAllgather(comm, rank, sources.length)
    const varied = this.#neighborAllgatherv(comm, rank, sources)
    this.#free(made)
    return [...data, ...varied]
  }

  /** Edges that any rank names; MPI decides the order in which a rank then has its neighbors. */
  graph(
    sources: readonly number[],
    degrees: readonly number[],
    destinations: readonly number[],
    rank: number,
  ) {
    const { abi } = this.#job.library
    const made = this.#room(2)
    this.#call('MPI_Dist_graph_create', 'hiaaaahia')(
      abi.commWorld,
      sources.length,
      this.#ints(sources),
      this.#ints(degrees),
      this.#ints(destinations),
      this.#ones(destinations.length),
      abi.infoNull,
      0,
      this.#at(made),
    )
    const comm = this.#handle(made)
    const counts = this.#room(3)
    const at = this.#at(counts)
    const count = this.#call('MPI_Dist_graph_neighbors_count', 'haaa')
    count(comm, at, at + 4, at + 8)
    const [ins, outs] = [this.#room(counts[0]), this.#room(counts[1])]
    this.#call('MPI_Dist_graph_neighbors', 'hiaaiaa')(
      comm,
      ins.length,
      this.#at(ins),
      this.#ones(ins.length),
      outs.length,
      this.#at(outs),
      this.#ones(outs.length),
    )
    const data = this.#neighborAllgather(comm, rank, ins.length)
    const varied = this.#neighborAllgatherv(comm, rank, [...ins])
    this.#free(made)
    return inOrderOfRanks([...ins], [...outs], data, varied)
  }

  /** Every rank contributes `contribution(rank)`. */
  #neighborAllgather(comm: number, rank: number, blocks: number): number[] {
    const { abi } = this.#job.library
    const mine = this.#ints(contribution(rank))
    const into = this.#room(blocksOf * blocks)
    this.#call('MPI_Neighbor_allgather', 'aihaihh')(
      mine,
      blocksOf,
      abi.int,
      this.#at(into),
      blocksOf,
      abi.int,
      comm,
    )
    return [...into]
  }

  /** Every rank contributes `variedContribution(rank)`. */
  #neighborAllgatherv(comm: number, rank: number, sources: readonly number[]): number[] {
    const { abi } = this.#job.library
    const counts = sources.map((source) => variedContribution(source).length)
    const displs = counts.map((_, n) => counts.slice(0, n).reduce((sum, count) => sum + count, 0))
    const mine = variedContribution(rank)
    const into = this.#room(counts.reduce((sum, count) => sum + count, 0))
    this.#call('MPI_Neighbor_allgatherv', 'aihaaahh')(
      this.#ints(mine),
      mine.length,
      abi.int,
      this.#at(into),
      this.#ints(counts),
      this.#ints(displs),
      abi.int,
      comm,
    )
    return [...into]
  }

  /** Own rank, then the world ranks of all members in order. */
  #members(made: Int32Array): Outcome {
    const { abi } = this.#job.library
    const comm = this.#handle(made)
    if (comm === abi.commNull) return null
    const place = this.#room(2)
    this.#call('MPI_Comm_rank', 'ha')(comm, this.#at(place))
    this.#call('MPI_Comm_size', 'ha')(comm, this.#at(place) + 4)
    const all = this.#room(place[1])
    this.#call('MPI_Allgather', 'aihaihh')(
      this.#ints([this.#job.process]),
      1,
      abi.int,
      this.#at(all),
      1,
      abi.int,
      comm,
    )
    this.#free(made)
    return [place[0], ...all]
  }

  #free(made: Int32Array): void {
    this.#call('MPI_Comm_free', 'a')(this.#at(made))
    this.#kept.clear()
  }

  /** @param types of the arguments: handle, int or address, by their first letters */
  #call(name: string, types: string) {
    let call = this.#calls.get(name)
    call ??= this.#job.library.func(name, ...[...types].map((letter) => typeOf[letter as 'h']))
    this.#calls.set(name, call)
    return call
  }
  readonly #calls = new Map<string, (...args: number[]) => void>()

  #handle(words: Int32Array): number {
    if (this.#job.library.abi.handleBytes === 4) return words[0]
    return (words[0] >>> 0) + words[1] * 2 ** 32
  }

  /** Zeroed ints in memory that does not move. */
  #room(count: number): Int32Array {
    const words = new Int32Array(new ArrayBuffer(Math.max(64, count * 4)), 0, count)
    this.#kept.add(words)
    return words
  }

  #ints(values: readonly number[]): number {
    const words = this.#room(values.length)
    words.set(values)
    return this.#at(words)
  }

  /** Weights: an unweighted graph is marked by an address that differs from library to library. */
  #ones(count: number): number {
    return this.#ints(new Array<number>(count).fill(1))
  }

  #at(words: Int32Array): number {
    return this.#job.library.addressOf(words)
  }
}

/** Elements per block. */
export const blocksOf = 2

/** What a rank contributes: no two alike, and none 0. */
export const contribution = (rank: number): number[] => [rank * 100 + 7, rank * 100 + 8]

/** What a rank contributes where counts may differ: none, one, two or three elements. */
export const variedContribution = (rank: number): number[] =>
  Array.from({ length: (rank * 7 + 1) % 4 }, (_, n) => rank * 100 + 50 + n)

/** The same whatever order the neighbors were in: blocks move along with their sources. */
export function inOrderOfRanks(
  sources: readonly number[],
  destinations: readonly number[],
  data: readonly number[],
  varied: readonly number[],
): number[] {
  let next = 0
  const blocks = sources.map((source, n) => {
    const begin = next
    next += variedContribution(source).length
    return [source, ...data.slice(n * blocksOf, (n + 1) * blocksOf), ...varied.slice(begin, next)]
  })
  if (next !== varied.length)
    throw new Error(`expected ${next} elements of all sources, got ${varied.length}`)
  const ascending = (a: readonly number[], b: readonly number[]) => a[0] - b[0]
  return [...blocks.sort(ascending).flat(), -1, ...[...destinations].sort((a, b) => a - b)]
}
