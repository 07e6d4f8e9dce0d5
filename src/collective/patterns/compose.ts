import { partialResult } from '../../schedule/ir.js'
import type { Specification } from '../../schedule/specification.js'
import type { Algorithm, Shape } from './algorithm.js'
import type { RankOperations } from './rank-operations.js'

/** How an algorithm is a component of another one: what its phases, names and places are there. */
export interface Component {
  readonly algorithm: Algorithm
  readonly shape: Shape
  /** Its phase 0. */
  readonly phase: number
  /** Names that each of its names stands for; they travel and are combined together. Default 1. */
  readonly width?: number
  /** The i-th name that a block or `partialResult(part)` stands for. */
  nameOf(name: number, i: number): number
  /** Where the i-th of the names is that a rank contributes in a place. */
  ownPlace(place: number, i: number): number
  /** Where the i-th name of a result is to be. */
  slotPlace(slot: number, i: number): number
}

/**
 * Opens the operations of a rank of a component among those of the whole. A component states its blocks by the
 * shape alone: the specification that it is given is that of the whole.
 *
 * A copy to the place that a block is in is none.
 */
export function emitComponent(
  operations: RankOperations,
  rank: number,
  component: Component,
  specification: Specification,
): void {
  const { algorithm, shape } = component
  algorithm.emit(shape, rank, new ComponentOperations(operations, component), specification)
}

/** Slots of a component are numbered from here on, its temporary places from twice this number on. */
const firstSlot = 2 ** 30

class ComponentOperations implements RankOperations {
  readonly #whole: RankOperations
  readonly #component: Component
  readonly #width: number
  /** Of all temporary places of the component, which are reserved in turn: the first of the whole's. */
  readonly #staged: number[] = []
  /** Opens the copy that has been asked for: not before it has an entry. */
  #openCopy: (() => void) | undefined

  constructor(whole: RankOperations, component: Component) {
    this.#whole = whole
    this.#component = component
    this.#width = component.width ?? 1
  }

  slot(_rank: number, index: number): number {
    return firstSlot + index
  }

  stage(rank: number, places = 1): number {
    const first = 2 * firstSlot + this.#staged.length
    for (let place = 0; place < places; place++) this.#staged.push(this.#whole.stage(rank, this.#width))
    return first
  }

  send(rank: number, phase: number, destination: number): this {
    return this.#open(() => this.#whole.send(rank, this.#component.phase + phase, destination))
  }

  receive(rank: number, phase: number, source: number): this {
    return this.#open(() => this.#whole.receive(rank, this.#component.phase + phase, source))
  }

  after(phase: number): this {
    if (phase >= 0) this.#whole.after(this.#component.phase + phase)
    return this
  }

  copy(rank: number, phase: number): this {
    this.#openCopy = () => {
      this.#whole.copy(rank, this.#component.phase + phase)
      this.#openCopy = undefined
    }
    return this
  }

  combine(rank: number, phase: number, part: number, left: number, right: number, to: number): this {
    this.#openCopy = undefined
    for (let i = 0; i < this.#width; i++) {
      const [one, other, result] = [left, right, to].map((place) => this.#placeOf(place, i))
      const combined = partialResult(this.#component.nameOf(partialResult(part), i))
      this.#whole.combine(rank, this.#component.phase + phase, combined, one, other, result)
    }
    return this
  }

  add(name: number, place: number, copyTo = -1): this {
    for (let i = 0; i < this.#width; i++) {
      const from = this.#placeOf(place, i)
      const to = copyTo === -1 ? -1 : this.#placeOf(copyTo, i)
      if (from === to) continue
      this.#openCopy?.()
      this.#whole.add(this.#component.nameOf(name, i), from, to)
    }
    return this
  }

  #open(open: () => void): this {
    this.#openCopy = undefined
    open()
    return this
  }

  #placeOf(place: number, i: number): number {
    if (place >= 2 * firstSlot) return this.#staged[place - 2 * firstSlot] + i
    if (place >= firstSlot) return this.#component.slotPlace(place - firstSlot, i)
    return this.#component.ownPlace(place, i)
  }
}
