import { sizeClass } from '../../base/bytes.js'
import { RecentObjects } from '../../base/maps.js'
import { joinWork, type SharedWork } from '../../base/turn.js'
import type { Machine } from '../../machine/machine.js'
import { machineFacts } from '../../machine/machine-text.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { AutoStrategy, Choice, ChosenOperation } from './auto.js'
import { type ChooseOptions, chooseInSlices, chooseStrategy } from './choose-strategy.js'

/** The subject of a choice, with a class of lengths. */
interface Wanted {
  readonly topology: ProcessTopology
  readonly options: ChooseOptions
  /** The key of everything else on which the choice depends. */
  readonly key: string
}

const areSame = (a: Wanted, b: Wanted): boolean => a.topology === b.topology && a.key === b.key

interface CachedChoice extends Wanted {
  readonly choice: Choice
}

/**
 * The choices of this thread, each retained as long as a communicator holds it. Logical processes of one topology
 * object choose once.
 */
const recent = new RecentObjects<CachedChoice>(64)

/** Choices that are made in slices. Logical processes of one thread need the same at the same time. */
const inFlight: SharedWork<Wanted, Choice>[] = []

/** The assumed length of blocks if some ranks do not know it, as in a neighbor allgatherv. */
const assumedBytes = 1024

/**
 * The choices of a communicator, by classes of block lengths: a class has the lengths for which the same power of two
 * is nearest. There are at most 42 classes for each of three operations.
 */
export class ChoicesBySize {
  readonly #machine: Machine
  readonly #auto: AutoStrategy
  readonly #facts: string
  readonly #isRenumbered: boolean
  /** The choices by the keys of their subjects. */
  readonly #made = new Map<string, CachedChoice>()

  /**
   * @param machine with a profile, and a core for every rank
   * @param isRenumbered whether the choices are executed in another numbering of the ranks
   */
  constructor(machine: Machine, auto: AutoStrategy, isRenumbered: boolean) {
    this.#machine = machine
    this.#auto = auto
    this.#isRenumbered = isRenumbered
    this.#facts = `${isRenumbered} ${machineFacts(machine)}`
  }

  /**
   * Returns the choice for blocks of some length, or of unknown length.
   * @param topology the same one in all calls, or an equal one
   */
  choiceFor(topology: ProcessTopology, bytes: number | null, operation: ChosenOperation): Choice {
    const wanted = this.#wanted(topology, bytes, operation)
    return this.#known(wanted) ?? this.#add(wanted, chooseStrategy(topology, this.#machine, wanted.options))
  }

  /** Whether the choice exists. */
  has(topology: ProcessTopology, bytes: number | null, operation: ChosenOperation): boolean {
    return this.#known(this.#wanted(topology, bytes, operation)) !== undefined
  }

  /**
   * Makes the choice of {@link choiceFor}, without holding the event loop longer than one plan and its simulation take.
   */
  async prepare(topology: ProcessTopology, bytes: number | null, operation: ChosenOperation): Promise<void> {
    const wanted = this.#wanted(topology, bytes, operation)
    if (this.#known(wanted) !== undefined) return
    const choose = () => chooseInSlices(topology, this.#machine, wanted.options)
    const choice = await joinWork(inFlight, wanted, areSame, choose)
    // Another rank may have added the choice in the meantime.
    if (this.#known(wanted) === undefined) this.#add(wanted, choice)
  }

  /** The length for which strategies are chosen, whatever is sent; null if the lengths of blocks decide. */
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
