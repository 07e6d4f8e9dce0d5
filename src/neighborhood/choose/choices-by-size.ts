import { RecentObjects } from '../../base/recent-objects.js'
import type { Machine } from '../../machine/machine.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { AutoStrategy } from './auto.js'
import type { Choice } from './choice.js'
import { type ChooseOptions, chooseInSlices, chooseStrategy } from './choose-strategy.js'
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
    const size = this.#sizeFor(bytes)
    return (this.#known(topology, size) ?? this.#add(topology, size, this.#choose(topology, size))).choice
  }

  /** As {@link choiceFor}, without holding the event loop longer than one plan and its simulation take. */
  async prepare(topology: ProcessTopology, bytes: number | null): Promise<void> {
    const size = this.#sizeFor(bytes)
    if (this.#known(topology, size) !== undefined) return
    const made = await chooseInSlices(topology, this.#machine, this.#options(size))
    // Another rank may have called meanwhile.
    if (this.#known(topology, size) === undefined) this.#add(topology, size, made)
  }

  #sizeFor(bytes: number | null): number {
    return sizeClass(this.#auto.bytes ?? bytes ?? assumedBytes)
  }

  #known(topology: ProcessTopology, size: number): CachedChoice | undefined {
    const own = this.#bySize.get(size)
    if (own !== undefined) return own
    const key = this.#keyOf(size)
    const found = recent.find((made) => made.topology === topology && made.key === key)
    if (found !== undefined) this.#bySize.set(size, found)
    return found
  }

  #add(topology: ProcessTopology, size: number, choice: Choice): CachedChoice {
    const cached = recent.add({ topology, key: this.#keyOf(size), choice })
    this.#bySize.set(size, cached)
    return cached
  }

  #choose(topology: ProcessTopology, size: number): Choice {
    return chooseStrategy(topology, this.#machine, this.#options(size))
  }

  #options(bytes: number): ChooseOptions {
    const { budget } = this.#auto
    return budget === undefined ? { bytes } : { bytes, budget }
  }

  #keyOf(size: number): string {
    return `${size} ${this.#auto.budget} ${this.#facts}`
  }
}

/** The nearest power of two; 0 of 0. */
export function sizeClass(bytes: number): number {
  if (bytes === 0) return 0
  let power = 1
  while (3 * power < 2 * bytes) power *= 2
  return power
}
