import { sizeClass } from '../../base/size-class.js'
import { joinWork, type SharedWork } from '../../base/slices.js'
import type { Machine } from '../../machine/machine.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { RecentObjects } from '../plan/plan-cache.js'
import type { AutoStrategy } from './auto.js'
import type { Choice, ChosenOperation } from './choice.js'
import { type ChooseOptions, chooseInSlices, chooseStrategy } from './choose-strategy.js'
import { machineFacts } from './machine-facts.js'

/** What a choice is made for, with a class of lengths. */
interface Wanted {
  readonly topology: ProcessTopology
  readonly options: ChooseOptions
  /** Of everything else that a choice depends on. */
  readonly key: string
}

const areSame = (a: Wanted, b: Wanted): boolean => a.topology === b.topology && a.key === b.key

/** A choice and what it was made from. */
interface CachedChoice extends Wanted {
  readonly choice: Choice
}

/**
 * The choices of this thread, each as long as a communicator holds it: logical processes of one topology
 * object choose once.
 */
const recent = new RecentObjects<CachedChoice>(64)

/** Choices that are being made in slices: logical processes of one thread want the same at the same time. */
const inFlight: SharedWork<Wanted, Choice>[] = []

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
  readonly #isRenumbered: boolean
  /** By the keys of what was wanted. */
  readonly #made = new Map<string, CachedChoice>()

  /**
   * @param machine with a profile, and a core for every rank
   * @param isRenumbered whether the choices are carried out in another numbering of the ranks
   */
  constructor(machine: Machine, auto: AutoStrategy, isRenumbered: boolean) {
    this.#machine = machine
    this.#auto = auto
    this.#isRenumbered = isRenumbered
    this.#facts = `${isRenumbered} ${machineFacts(machine)}`
  }

  /**
   * The choice for blocks of some length, or of unknown length.
   * @param topology always the same, or an equal one
   */
  choiceFor(topology: ProcessTopology, bytes: number | null, operation: ChosenOperation): Choice {
    const wanted = this.#wanted(topology, bytes, operation)
    return this.#known(wanted) ?? this.#add(wanted, chooseStrategy(topology, this.#machine, wanted.options))
  }

  /** Whether the choice is made already. */
  has(topology: ProcessTopology, bytes: number | null, operation: ChosenOperation): boolean {
    return this.#known(this.#wanted(topology, bytes, operation)) !== undefined
  }

  /** As {@link choiceFor}, without holding the event loop longer than one plan and its simulation take. */
  async prepare(topology: ProcessTopology, bytes: number | null, operation: ChosenOperation): Promise<void> {
    const wanted = this.#wanted(topology, bytes, operation)
    if (this.#known(wanted) !== undefined) return
    const choose = () => chooseInSlices(topology, this.#machine, wanted.options)
    const choice = await joinWork(inFlight, wanted, areSame, choose)
    // Another rank may have called meanwhile.
    if (this.#known(wanted) === undefined) this.#add(wanted, choice)
  }

  /** The length that is chosen for, whatever is sent; null where the lengths of blocks decide. */
  get fixedBytes(): number | null {
    return this.#auto.bytes ?? null
  }

  #wanted(topology: ProcessTopology, given: number | null, operation: ChosenOperation): Wanted {
    const { budget } = this.#auto
    const bytes = sizeClass(this.fixedBytes ?? given ?? assumedBytes)
    const isRenumbered = this.#isRenumbered
    const options = { bytes, operation, isRenumbered, ...(budget === undefined ? {} : { budget }) }
    return { topology, options, key: `${bytes} ${operation} ${budget} ${this.#facts}` }
  }

  #known(wanted: Wanted): Choice | undefined {
    const own = this.#made.get(wanted.key)
    if (own !== undefined) return own.choice
    const found = recent.find((made) => areSame(made, wanted))
    if (found !== undefined) this.#made.set(wanted.key, found)
    return found?.choice
  }

  #add(wanted: Wanted, choice: Choice): Choice {
    this.#made.set(wanted.key, recent.add({ ...wanted, choice }))
    return choice
  }
}
