import { RecentObjects } from '../../base/recent-objects.js'
import type { Machine } from '../../machine/machine.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { AutoStrategy } from './auto.js'
import type { Choice } from './choice.js'
import { chooseStrategy } from './choose-strategy.js'
import { machineFacts } from './machine-facts.js'

/** A choice and what it was made from. */
interface CachedChoice {
  readonly topology: ProcessTopology
  readonly key: string
  readonly choice: Choice
}

/** The choices of this thread, each as long as a communicator holds it: logical processes of one topology object choose once. */
const recent = new RecentObjects<CachedChoice>(64)

/** Where block lengths are unknown to some ranks, as in a neighbor allgatherv, a plan for blocks of this length is used. */
export const assumedBytes = 1024

/**
 * The choices of a communicator, by classes of block lengths: lengths for which the same power of two is nearest. There are
 * at most 42 of them.
 */
export class ChoicesBySize {
  readonly #machine: Machine
  readonly #auto: AutoStrategy
  readonly #facts: string
  readonly #bySize = new Map<number, CachedChoice>()

  /** @param machine with a profile, and a core for every rank */
  constructor(machine: Machine, auto: AutoStrategy) {
    this.#machine = machine
    this.#auto = auto
    this.#facts = machineFacts(machine)
  }

  /** The choice for blocks of some length, or of unknown length. @param topology always the same, or an equal one */
  choiceFor(topology: ProcessTopology, bytes: number | null): Choice {
    const size = sizeClass(this.#auto.bytes ?? bytes ?? assumedBytes)
    let cached = this.#bySize.get(size)
    if (cached === undefined) {
      cached = this.#cachedChoice(topology, size)
      this.#bySize.set(size, cached)
    }
    return cached.choice
  }

  #cachedChoice(topology: ProcessTopology, bytes: number): CachedChoice {
    const { budget } = this.#auto
    const key = `${bytes} ${budget} ${this.#facts}`
    const known = recent.find((made) => made.topology === topology && made.key === key)
    if (known !== undefined) return known
    const options = budget === undefined ? { bytes } : { bytes, budget }
    return recent.add({ topology, key, choice: chooseStrategy(topology, this.#machine, options) })
  }
}

/** The nearest power of two; 0 of 0. */
export function sizeClass(bytes: number): number {
  if (bytes === 0) return 0
  let power = 1
  while (3 * power < 2 * bytes) power *= 2
  return power
}
