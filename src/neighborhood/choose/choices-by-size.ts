import type { Machine } from '../../machine/machine.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { RecentObjects } from '../plan/plan-cache.js'
import type { AutoStrategy } from './auto.js'
import type { Choice, ChosenOperation } from './choice.js'
import { type ChooseOptions, chooseInSlices, chooseStrategy } from './choose-strategy.js'

/**
 * Everything of a machine that a choice depends on, as text: equal for equal machines. Two profiles of one
 * name may differ, so the figures are in it.
 */
export function machineFacts(machine: Machine): string {
  return JSON.stringify(machine, (_key, value: unknown) => {
    if (ArrayBuffer.isView(value)) return (value as Int32Array).join()
    // JSON has no Infinity.
    return typeof value === 'number' ? String(value) : value
  })
}

/** A choice and what it was made from. */
interface CachedChoice {
  readonly topology: ProcessTopology
  readonly key: string
  readonly choice: Choice
}

/** What a choice is made for, with a class of lengths. */
type Wanted = ChooseOptions & { readonly operation: ChosenOperation }

/**
 * The choices of this thread, each as long as a communicator holds it: logical processes of one topology
 * object choose once.
 */
const recent = new RecentObjects<CachedChoice>(64)

/** Choices that are being made in slices: logical processes of one thread want the same at the same time. */
const inFlight: {
  readonly topology: ProcessTopology
  readonly key: string
  readonly done: Promise<Choice>
}[] = []

/**
 * Where block lengths are unknown to some ranks, as in a neighbor allgatherv, a plan for blocks of this
 * length is used.
 */
export const assumedBytes = 1024

/**
 * The choices of a communicator, by classes of block lengths: lengths for which the same power of two is
 * nearest. There are at most 42 of them, for each of three operations.
 */
export class ChoicesBySize {
  readonly #machine: Machine
  readonly #auto: AutoStrategy
  readonly #facts: string
  /** By what {@link ChoicesBySize.#keyOf} names. */
  readonly #made = new Map<string, CachedChoice>()

  /** @param machine with a profile, and a core for every rank */
  constructor(machine: Machine, auto: AutoStrategy) {
    this.#machine = machine
    this.#auto = auto
    this.#facts = machineFacts(machine)
  }

  /**
   * The choice for blocks of some length, or of unknown length.
   * @param topology always the same, or an equal one
   */
  choiceFor(topology: ProcessTopology, bytes: number | null, operation: ChosenOperation): Choice {
    const wanted = this.#optionsFor(bytes, operation)
    return (this.#known(topology, wanted) ?? this.#add(topology, wanted, this.#choose(topology, wanted)))
      .choice
  }

  /** Whether the choice is made already. */
  has(topology: ProcessTopology, bytes: number | null, operation: ChosenOperation): boolean {
    return this.#known(topology, this.#optionsFor(bytes, operation)) !== undefined
  }

  /** As {@link choiceFor}, without holding the event loop longer than one plan and its simulation take. */
  async prepare(topology: ProcessTopology, bytes: number | null, operation: ChosenOperation): Promise<void> {
    const wanted = this.#optionsFor(bytes, operation)
    if (this.#known(topology, wanted) !== undefined) return
    const key = this.#keyOf(wanted)
    const begun = inFlight.find((each) => each.topology === topology && each.key === key)
    const made = await (begun?.done ?? this.#begin(topology, wanted))
    // Another rank may have called meanwhile.
    if (this.#known(topology, wanted) === undefined) this.#add(topology, wanted, made)
  }

  async #begin(topology: ProcessTopology, wanted: Wanted): Promise<Choice> {
    const done = chooseInSlices(topology, this.#machine, wanted)
    const begun = { topology, key: this.#keyOf(wanted), done }
    inFlight.push(begun)
    try {
      return await done
    } finally {
      inFlight.splice(inFlight.indexOf(begun), 1)
    }
  }

  /** The length that is chosen for, whatever is sent; null where the lengths of blocks decide. */
  get fixedBytes(): number | null {
    return this.#auto.bytes ?? null
  }

  #optionsFor(bytes: number | null, operation: ChosenOperation): Wanted {
    const { budget } = this.#auto
    const size = sizeClass(this.fixedBytes ?? bytes ?? assumedBytes)
    return { bytes: size, operation, ...(budget === undefined ? {} : { budget }) }
  }

  #known(topology: ProcessTopology, wanted: Wanted): CachedChoice | undefined {
    const key = this.#keyOf(wanted)
    const own = this.#made.get(key)
    if (own !== undefined) return own
    const found = recent.find((made) => made.topology === topology && made.key === key)
    if (found !== undefined) this.#made.set(key, found)
    return found
  }

  #add(topology: ProcessTopology, wanted: Wanted, choice: Choice): CachedChoice {
    const key = this.#keyOf(wanted)
    const cached = recent.add({ topology, key, choice })
    this.#made.set(key, cached)
    return cached
  }

  #choose(topology: ProcessTopology, wanted: Wanted): Choice {
    return chooseStrategy(topology, this.#machine, wanted)
  }

  #keyOf({ bytes, operation }: Wanted): string {
    return `${bytes} ${operation} ${this.#auto.budget} ${this.#facts}`
  }
}

/** The nearest power of two; 0 of 0. */
export function sizeClass(bytes: number): number {
  if (bytes === 0) return 0
  let power = 1
  while (3 * power < 2 * bytes) power *= 2
  return power
}
