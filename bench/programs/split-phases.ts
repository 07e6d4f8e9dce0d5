// Splits of a world without pattern by several algorithms in turn: what each phase takes on its slowest
// process, and what a process holds and retains. Every rank's result is checked before a split is timed.
import type { Communicator, SplitOptions } from 'rankweave'
import { colorsAndKeys, digestOf, type Places, placesOf } from './irregular.js'

export interface PhaseEffort {
  readonly variants: readonly { readonly name: string; readonly options: SplitOptions }[]
  readonly colors: number
  /** Timed splits of each variant; each round begins with the next variant. */
  readonly rounds: number
}

export const phaseNames = ['collect', 'splitters', 'exchange', 'merge', 'ranks', 'table'] as const

/**
 * What is measured of one split, in this order: times in ms of the slowest process, then sums, then maxima.
 */
export const measures = [...phaseNames, 'phases', 'whole', 'messages', 'bytes', 'peak', 'retained'] as const
const firstSum = measures.indexOf('messages')
const firstMaximum = measures.indexOf('peak')

/** By process: its ranks. On `local` all processes share this module. */
const here = new Map<number, { worlds: Communicator[]; done: Promise<null> }>()

/** Of rank 0: medians by `variant:measure`, all samples of `phases`, and the digest of the result. */
export default function main(world: Communicator, effort: PhaseEffort): Promise<object | null> {
  const { process } = world.location
  const ours = here.get(process)
  if (ours !== undefined) {
    ours.worlds.push(world)
    return ours.done
  }
  const worlds = [world]
  // The mains of a process all begin before the next microtask.
  const result = Promise.resolve().then(() => new Measurement(worlds, effort).run())
  here.set(process, { worlds, done: result.then(() => null) })
  return result
}

let given: ReturnType<typeof colorsAndKeys> | undefined
let expected: Places | undefined

/** One process's part: it calls for all its ranks. */
class Measurement {
  readonly #worlds: readonly Communicator[]
  readonly #effort: PhaseEffort
  /** The first rank of every process. */
  #leaders!: Communicator

  constructor(worlds: readonly Communicator[], effort: PhaseEffort) {
    this.#worlds = worlds
    this.#effort = effort
  }

  async run(): Promise<object> {
    const [first] = this.#worlds
    const { variants, colors, rounds } = this.#effort
    given ??= colorsAndKeys(first.size, colors)
    expected ??= placesOf(given)
    const leaders = this.#worlds.map((world, i) => world.split(i === 0 ? 0 : null, world.rank))
    this.#leaders = (await leaders[0])!
    await Promise.all(leaders)
    let digest = 0
    const samples = variants.map((): Float64Array[] => [])
    const retained = new Float64Array(variants.length)
    for (const [i, { options }] of variants.entries()) {
      await this.#sample(options, (parts) => {
        digest = this.#check(parts)
        retained[i] = this.#retainedBytes(parts)
      })
    }
    for (let round = 0; round < rounds; round++) {
      for (let turn = 0; turn < variants.length; turn++) {
        const i = (round + turn) % variants.length
        samples[i].push(await this.#sample(variants[i].options))
      }
    }
    const figures: Record<string, number> = {}
    for (const [i, { name }] of variants.entries()) {
      const all: Float64Array[] = []
      for (const sample of samples[i]) all.push(await this.#agreed(Float64Array.of(...sample, retained[i])))
      measures.forEach((measure, m) => {
        figures[`${name}:${measure}`] = middle(all.map((sample) => sample[m]))
      })
      all.forEach((sample, run) => {
        figures[`${name}:sample${run}`] = sample[measures.indexOf('phases')]
      })
    }
    const [sum] = await this.#leaders.allreduce(Float64Array.of(digest), 'sum')
    return { ...figures, digest: sum }
  }

  /** One split by every rank here; its parts are freed. */
  async #sample(
    options: SplitOptions,
    look?: (parts: readonly (Communicator | null)[]) => void,
  ): Promise<Float64Array> {
    const { color, key } = given!
    const call = (world: Communicator) => {
      const { rank } = world
      return world.split(color[rank] < 0 ? null : color[rank], key[rank], options)
    }
    const last = this.#worlds.length - 1
    const calls: Promise<Communicator | null>[] = []
    for (let i = 0; i < last; i++) calls.push(call(this.#worlds[i]))
    // The split begins with the last call of every process: no phase waits for a process that is still
    // calling.
    await this.#leaders.barrier()
    const begin = performance.now()
    calls.push(call(this.#worlds[last]))
    const parts: (Communicator | null)[] = []
    for (const each of calls) parts.push(await each)
    const whole = performance.now() - begin
    look?.(parts)
    const { phases, peakBytes } = this.#worlds[0].describe().lastSplit!
    const costs = Object.entries(phases)
    const stray = costs.find(([name]) => !(phaseNames as readonly string[]).includes(name))
    if (stray !== undefined) throw new Error(`wrong result: an unknown phase ${stray[0]}`)
    const sum = (of: 'seconds' | 'messages' | 'bytes') =>
      costs.reduce((total, [, cost]) => total + cost[of], 0)
    const freed: Promise<void>[] = []
    for (const part of parts) if (part !== null) freed.push(part.free())
    for (const each of freed) await each
    await this.#leaders.barrier()
    const ms = phaseNames.map((name) => 1000 * (phases[name]?.seconds ?? 0))
    return Float64Array.of(...ms, 1000 * sum('seconds'), whole, sum('messages'), sum('bytes'), peakBytes)
  }

  /** The largest time and memory of any process, and the sums of messages and bytes. */
  async #agreed(mine: Float64Array): Promise<Float64Array> {
    const most = await this.#leaders.allreduce(mine, 'max')
    const total = await this.#leaders.allreduce(mine, 'sum')
    return most.map((value, m) => (m >= firstSum && m < firstMaximum ? total[m] : value))
  }

  /** Compares every rank's result with the definition. Returns the digest of the ranks here. */
  #check(parts: readonly (Communicator | null)[]): number {
    let digest = 0
    for (let i = 0; i < parts.length; i++) {
      const { rank } = this.#worlds[i]
      const part = parts[i]
      const got = { rank: part?.rank ?? -1, size: part?.size ?? 0 }
      if (got.rank !== expected!.rank[rank] || got.size !== expected!.size[rank]) {
        throw new Error(
          `wrong result: rank ${rank}: expected ${expected!.rank[rank]} of ${expected!.size[rank]}, got ${got.rank} of ${got.size}`,
        )
      }
      digest += digestOf(rank, got)
    }
    return digest
  }

  /** Bytes of tables that this process retains for all communicators of a split. */
  #retainedBytes(parts: readonly (Communicator | null)[]): number {
    const seen = new Set<number>()
    let bytes = 0
    let shared = 0
    for (let i = 0; i < parts.length; i++) {
      const color = given!.color[this.#worlds[i].rank]
      if (color < 0 || seen.has(color)) continue
      seen.add(color)
      const { table } = parts[i]!.describe()
      bytes += table.bytes
      shared = Math.max(shared, table.sharedBytes)
    }
    return bytes + shared
  }
}

function middle(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b)
  const at = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[at] : (sorted[at - 1] + sorted[at]) / 2
}
