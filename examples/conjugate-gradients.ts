/**
 * Conjugate gradients: several systems of equations at once, whose unknowns are divided among the ranks. Every iteration
 * sums two scalar products of each system over all ranks, by allreduce, and exchanges one unknown of each system with
 * both neighbors.
 *
 *   rankweave run examples/conjugate-gradients.ts -n 4 --processes 4 --fabric threads
 *   rankweave run examples/conjugate-gradients.ts -n 4 --processes 4 --fabric threads --tuning online:runs
 *
 * Further words are the unknowns of a rank, the systems, and how often they are solved: `-- 1000 1 10` unless they are
 * given. With `seconds` after them the time of the solution is among the results.
 *
 * The matrix is that of a chain of springs, each point held by another one: 3 on the diagonal and -1 beside it. So the
 * number of iterations hardly depends on the number of unknowns, and the solution is known.
 */
import { type Communicator, PROC_NULL } from 'rankweave'

/** Any number of ranks works; these are tested. */
export const rankCounts = [1, 2, 5]

const tolerance = 1e-10
const mostIterations = 1000

/** The solution of a system at a row of all ranks. It differs between systems. */
const solutionAt = (row: number, system: number) => Math.sin(0.01 * row + system)

export default async function main(world: Communicator, words: readonly string[] = []) {
  const [rows = 1000, systems = 1, solutions = 10] = words.filter((word) => word !== 'seconds').map(Number)
  const chain = new Chain(world, rows, systems)
  const right = chain.vector()
  await chain.multiply(chain.solution(), right)
  await world.barrier()
  const begin = performance.now()
  let iterations = 0
  let x = chain.vector()
  for (let i = 0; i < solutions; i++) {
    x = chain.vector()
    iterations = await chain.solve(right, x)
  }
  const seconds = (performance.now() - begin) / 1000
  const largestError = await world.allreduce(chain.largestDifference(x, chain.solution()), 'max')
  if (world.rank > 0) return null
  return { iterations, isRight: largestError < 1e-8, ...(words.includes('seconds') ? { seconds } : {}) }
}

/** The part of a rank: unknown `row` of a system at (row + 1) * systems + system, the neighbors' before and behind. */
class Chain {
  readonly #world: Communicator
  readonly #rows: number
  readonly #systems: number
  readonly #before: number
  readonly #after: number

  constructor(world: Communicator, rows: number, systems: number) {
    const { rank, size } = world
    this.#world = world
    this.#rows = rows
    this.#systems = systems
    this.#before = rank > 0 ? rank - 1 : PROC_NULL
    this.#after = rank < size - 1 ? rank + 1 : PROC_NULL
  }

  vector(): Float64Array {
    return new Float64Array((this.#rows + 2) * this.#systems)
  }

  solution(): Float64Array {
    const first = this.#world.rank * this.#rows
    const systems = this.#systems
    return this.vector().map((_, i) => {
      const row = Math.floor(i / systems) - 1
      return row < 0 || row >= this.#rows ? 0 : solutionAt(first + row, i % systems)
    })
  }

  largestDifference(a: Float64Array, b: Float64Array): number {
    let largest = 0
    for (let i = this.#systems; i < (this.#rows + 1) * this.#systems; i++)
      largest = Math.max(largest, Math.abs(a[i] - b[i]))
    return largest
  }

  async multiply(x: Float64Array, product: Float64Array): Promise<void> {
    await this.#exchange(x)
    const systems = this.#systems
    for (let i = systems; i < (this.#rows + 1) * systems; i++)
      product[i] = 3 * x[i] - x[i - systems] - x[i + systems]
  }

  /** Solves all systems. @returns iterations */
  async solve(right: Float64Array, x: Float64Array): Promise<number> {
    const systems = this.#systems
    const residual = right.slice()
    const direction = right.slice()
    const product = this.vector()
    let squares = await this.#products(residual, residual)
    for (let iteration = 1; iteration <= mostIterations; iteration++) {
      await this.multiply(direction, product)
      const steps = (await this.#products(direction, product)).map((sum, s) =>
        sum > 0 ? squares[s] / sum : 0,
      )
      for (let i = systems; i < (this.#rows + 1) * systems; i++) {
        x[i] += steps[i % systems] * direction[i]
        residual[i] -= steps[i % systems] * product[i]
      }
      const after = await this.#products(residual, residual)
      if (after.every((square) => square < tolerance ** 2)) return iteration
      const ratios = after.map((square, s) => (squares[s] > 0 ? square / squares[s] : 0))
      for (let i = systems; i < (this.#rows + 1) * systems; i++)
        direction[i] = residual[i] + ratios[i % systems] * direction[i]
      squares = after
    }
    return mostIterations
  }

  /** Scalar products of each system over all ranks. */
  async #products(a: Float64Array, b: Float64Array): Promise<Float64Array> {
    const systems = this.#systems
    const sums = new Float64Array(systems)
    for (let i = systems; i < (this.#rows + 1) * systems; i++) sums[i % systems] += a[i] * b[i]
    return this.#world.allreduce(sums, 'sum')
  }

  async #exchange(x: Float64Array): Promise<void> {
    const world = this.#world
    const systems = this.#systems
    const end = (this.#rows + 1) * systems
    const [first, last] = [x.subarray(systems, 2 * systems), x.subarray(end - systems, end)]
    await world.sendrecv(last, this.#after, this.#before, { into: x.subarray(0, systems) })
    await world.sendrecv(first, this.#before, this.#after, { into: x.subarray(end) })
  }
}
