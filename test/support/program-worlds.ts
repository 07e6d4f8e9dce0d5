import { setImmediate as turn } from 'node:timers/promises'
import { bytesOf } from '../../src/base/bytes.js'
import type { CollectiveCall } from '../../src/calls/matching/collective-call.js'
import { ProgramRun, type ProgramStore } from '../../src/calls/program/run-program.js'
import { isRankweaveError } from '../../src/errors.js'
import type { Communicator } from '../../src/handles/communicator.js'
import type { Schedule } from '../../src/schedule/ir.js'
import { lowerInRounds } from '../../src/schedule/lower/lower.js'
import type { ProcessProgram } from '../../src/schedule/lower/program.js'
import { roundsByPhase } from '../../src/schedule/lower/rounds.js'
import type { Value } from './value-interpreter.js'

/** Elements of a block, or of the partial results of part p where the term is `~p`. */
export type Lengths = (term: number) => number

/** What a block holds in the n-th run, element by element. */
export const element = (block: number, index: number, run: number): number =>
  (block * 1_009 + index * 31 + run * 7 + 1) % 9_973

/** Neither commutative nor associative. */
export const combined = (left: number, right: number): number => (3 * left + 5 * right + 7) % 9_973

/** Element `index` of a value. */
export function evaluated(value: Value, index: number, run: number): number {
  if (typeof value === 'number') return element(value, index, run)
  return combined(evaluated(value[0], index, run), evaluated(value[1], index, run))
}

/** The values of a program, each in its own place; every other frame lands there without a copy. */
export class TestStore implements ProgramStore {
  readonly arena: Float64Array
  readonly start: Int32Array
  readonly #program: ProcessProgram

  constructor(program: ProcessProgram, lengths: Lengths) {
    this.#program = program
    this.start = new Int32Array(program.valueTerm.length + 1)
    for (const [v, term] of program.valueTerm.entries()) this.start[v + 1] = this.start[v] + lengths(term)
    this.arena = new Float64Array(this.start[program.valueTerm.length])
  }

  value(v: number): Float64Array {
    return this.arena.subarray(this.start[v], this.start[v + 1])
  }

  contribute(run: number): void {
    const { ownStart, ranks, valueTerm } = this.#program
    for (let v = 0; v < ownStart[ranks.length]; v++) {
      this.value(v).forEach((_, i, own) => {
        own[i] = element(valueTerm[v], i, run)
      })
    }
  }

  pack(frame: number): Uint8Array {
    const { valueStart, value } = this.#program.send
    const values = Array.from(value.subarray(valueStart[frame], valueStart[frame + 1]), (v) => [
      ...this.value(v),
    ])
    return bytesOf(Float64Array.from(values.flat()))
  }

  landing(frame: number): Uint8Array | undefined {
    return frame % 2 === 0 ? bytesOf(this.#frame(frame)) : undefined
  }

  unpack(frame: number, bytes: Uint8Array): void {
    bytesOf(this.#frame(frame)).set(bytes)
  }

  combine(c: number): void {
    const { firstValue, left, right } = this.#program.combine
    const [a, b] = [this.value(left[c]), this.value(right[c])]
    this.value(firstValue + c).forEach((_, i, out) => {
      out[i] = combined(a[i], b[i])
    })
  }

  #frame(frame: number): Float64Array {
    const { valueStart } = this.#program.receive
    return this.arena.subarray(this.start[valueStart[frame]], this.start[valueStart[frame + 1]])
  }
}

/** What a rank found: its slots by run, or the code with which it failed. */
export type Found = { readonly slots: number[][][] } | { readonly code: string; readonly isQuiet: boolean }

/**
 * Runs the program of a schedule in every process of a world, `runs` times with one run object: the world's
 * ranks are those of the schedule. A rank that fails reports whether nothing was written afterwards.
 */
export async function runInWorld(
  world: Communicator,
  schedule: Schedule,
  lengths: Lengths,
  runs: number,
): Promise<Found> {
  let written: TestStore | undefined
  try {
    // Throws where the communicator has failed.
    const { state, localIndex } = world.seat()
    const placement = Int32Array.from(
      { length: world.size },
      (_, rank) => state.processOfRank(rank) as number,
    )
    const program = lowerInRounds(schedule, placement, state.processIndex, roundsByPhase(schedule))
    const slots: number[][][] = []
    for (let n = 0; n < runs; n++) {
      const call: CollectiveCall<undefined, TestStore> = {
        signature: { name: 'barrier' },
        run(_, exchange) {
          const own = new TestStore(program, lengths)
          stores.set(state, own)
          own.contribute(n)
          const programRun = runsOf.get(state) ?? new ProgramRun(program)
          runsOf.set(state, programRun)
          programRun.start(exchange, own, () => exchange.finish(Array(program.ranks.length).fill(own)))
          return undefined
        },
      }
      const called = state.collectives.call(localIndex, call, undefined)
      written = stores.get(state)
      const store = await called
      slots.push(slotsOf(program, store, localIndex))
    }
    return { slots }
  } catch (error) {
    const before = written?.arena.join()
    for (let i = 0; i < 20; i++) await turn()
    const isQuiet = before === written?.arena.join()
    return { code: isRankweaveError(error) ? error.code : String(error), isQuiet }
  }
}

/** Of the communicator in a process. */
const stores = new WeakMap<object, TestStore>()
const runsOf = new WeakMap<object, ProgramRun>()

function slotsOf(
  { fillStart, fillRank, fillSlot }: ProcessProgram,
  store: TestStore,
  index: number,
): number[][] {
  const slots: number[][] = []
  for (let v = 0; v + 1 < fillStart.length; v++) {
    for (let f = fillStart[v]; f < fillStart[v + 1]; f++) {
      if (fillRank[f] === index) slots[fillSlot[f]] = [...store.value(v)]
    }
  }
  return slots
}
