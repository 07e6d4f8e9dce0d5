import { type Combiner, combinerOf } from '../../calls/values/combiner.js'
import { elementSizeBytes, type TypedArray } from '../../messages/datatype/elements.js'
import type { ReadyOperation } from '../../messages/datatype/operation.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { UniformStore } from '../memory/uniform-store.js'

/** Values of one length, combined by the operation of the run as the program prescribes. */
export class CombiningStore extends UniformStore {
  readonly #combine: ProcessProgram['combine']
  readonly #type: number
  /** Views of values that have been combined or delivered, so that later runs allocate none. */
  readonly #views: TypedArray[]
  #op: ReadyOperation | undefined
  #combiner: Combiner<unknown> | undefined

  constructor(program: ProcessProgram, type: number, countElems: number) {
    super(program, type, elementSizeBytes(type), countElems)
    this.#combine = program.combine
    this.#type = type
    this.#views = new Array(program.valueTerm.length)
  }

  bind(op: ReadyOperation): void {
    if (op === this.#op) return
    this.#op = op
    this.#combiner = op.kind === 'kernel' ? undefined : combinerOf(op, this.#type, this.countElems)
  }

  view(value: number): TypedArray {
    const { countElems } = this
    this.#views[value] ??= this.elements.subarray(value * countElems, (value + 1) * countElems)
    return this.#views[value]
  }

  override combine(combination: number): void {
    const { firstValue, left, right } = this.#combine
    const op = this.#op!
    const out = this.view(firstValue + combination)
    const [a, b] = [this.view(left[combination]), this.view(right[combination])]
    if (op.kind === 'kernel') op.kernel(out, a, b)
    else (out as Float64Array).set(this.#combiner!.combine(a, false, b, false) as Float64Array)
  }
}
