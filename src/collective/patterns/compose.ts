import { partialResult } from '../../schedule/ir.js'
import type { Specification } from '../../schedule/specification.js'
import type { Algorithm, Shape } from './algorithm.js'
import type { RankOperations } from './rank-operations.js'

/** An algorithm as a component of another one, with its phases, names and places in that. */
interface Component {
  readonly algorithm: Algorithm
  readonly shape: Shape
  /** The phase of the whole that is its phase 0. */
  readonly phase: number
  /** The number of names that each of its names stands for; they travel and are combined together. Default 1. */
  readonly width?: number
  /** Returns the i-th name that a block or `partialResult(part)` stands for. */
  nameOf(name: number, i: number): number
  /** Returns the place of the i-th name that a rank contributes in a place. */
  ownPlace(place: number, i: number): number
  /** Returns the place where the i-th name of a result belongs. */
  slotPlace(slot: number, i: number): number
}

/**
 * Opens the operations of a rank of a component among those of the whole. A component derives its blocks from the shape
 * alone, because the specification that it gets is that of the whole.
 *
 * A copy of a block to its present place is left out.
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

/** The first number of a component's slots; its temporary places are numbered from twice this on. */
const firstSlot = 2 ** 30

class ComponentOperations implements RankOperations {
  readonly #whole: RankOperations
  readonly #component: Component
  readonly #width: number
  /** The places in the whole of the component's temporary places, which are reserved in turn. */
  readonly #staged: number[] = []
  /** Opens the requested copy once it has an entry. */
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
