import fc from 'fast-check'
import { algorithms, type Collective, lower, type ProcessProgram, scheduleOf } from 'rankweave/schedule'
import { expect, test } from 'vitest'
import { below, mulberry32 } from '../../src/base/random.js'
import {
  area,
  type MemoryOptions,
  type ValueMemory,
  valueMemory,
} from '../../src/schedule/lower/value-memory.js'
import { interpret, type Watch } from '../support/lowered-interpreter.js'
import { collectiveWishes, randomReduction } from '../support/random-collectives.js'
import { placements } from '../support/random-placements.js'
import { cases } from '../support/soak.js'

/** Being written by a frame on its way. */
const torn = -1

/**
 * The memory of one process: which value each cell holds. Every access checks that it is the one that the
 * program means.
 */
class Cells {
  readonly memory: ValueMemory
  readonly #program: ProcessProgram
  readonly #isInPlace: boolean
  readonly #held = new Map<string, number>()

  constructor(program: ProcessProgram, memory: ValueMemory, isInPlace: boolean) {
    this.memory = memory
    this.#program = program
    this.#isInPlace = isInPlace
    const { ownStart, ranks } = program
    for (let value = 0; value < ownStart[ranks.length]; value++) {
      this.#held.set(this.#cell(area.own, value), value)
    }
    const { ownCopy, ownCopyTo } = memory
    ownCopy.forEach((value, i) => {
      this.#held.set(this.#cell(area.slot, ownCopyTo[i]), value)
    })
  }

  write(value: number, held = value): void {
    this.#held.set(this.#cellOf(value), held)
  }

  read(value: number, what: string): void {
    const held = this.#held.get(this.#cellOf(value))
    if (held !== value) throw new Error(`${what}: value ${value} is ${held} in ${this.#cellOf(value)}`)
  }

  /** What ranks contribute is theirs, and all slots are filled. */
  finish(): void {
    const { ownStart, ranks, fillStart, fillRank, fillSlot } = this.#program
    const { copy, copyTo, slotStart } = this.memory
    copy.forEach((value, i) => {
      this.read(value, 'copied')
      this.#held.set(this.#cell(area.slot, copyTo[i]), value)
    })
    for (let value = 0; value + 1 < fillStart.length; value++) {
      for (let f = fillStart[value]; f < fillStart[value + 1]; f++) {
        const slot = slotStart[fillRank[f]] + fillSlot[f]
        const held = this.#held.get(this.#cell(area.slot, slot))
        // Ranks that share a slot have equal results in it, each perhaps its own value.
        const isSame = this.#program.valueTerm[held ?? torn] === this.#program.valueTerm[value]
        if (!isSame) throw new Error(`slot ${slot} holds ${held}, not ${value}`)
      }
    }
    for (let value = 0; value < ownStart[ranks.length] && !this.#isInPlace; value++) {
      if (this.#held.get(this.#cell(area.own, value)) !== value)
        throw new Error(`own ${value} is overwritten`)
    }
  }

  #cellOf(value: number): string {
    return this.#cell(this.memory.area[value], this.memory.index[value])
  }

  #cell(where: number, index: number): string {
    return `${this.#isInPlace && where === area.slot ? area.own : where}.${index}`
  }
}

/**
 * Frames that are offered are read when they arrive, and may be written at the other end as soon as they are
 * sent; others are read when they are sent, and written when they arrive.
 */
function watchOf(programs: readonly ProcessProgram[], cells: readonly Cells[], seed: number): Watch {
  const random = mulberry32(seed)
  const offered = new Set<string>()
  const check = (process: number, frame: number) => {
    const { valueStart, value } = programs[process].send
    for (let i = valueStart[frame]; i < valueStart[frame + 1]; i++) {
      cells[process].read(value[i], `frame ${frame} of process ${process}`)
    }
  }
  const land = (process: number, frame: number, isWhole: boolean) => {
    const { valueStart } = programs[process].receive
    for (let value = valueStart[frame]; value < valueStart[frame + 1]; value++) {
      cells[process].write(value, isWhole ? value : torn)
    }
  }
  return {
    sends(process, frame, to, received) {
      check(process, frame)
      if (below(random, 2) === 0) return
      offered.add(`${process} ${frame}`)
      land(to, received, false)
    },
    arrives(process, frame, to, received) {
      if (offered.has(`${process} ${frame}`)) check(process, frame)
      land(to, received, true)
    },
    combines(process, c) {
      const { firstValue, left, right } = programs[process].combine
      for (const operand of [left[c], right[c]]) {
        cells[process].read(operand, `combination ${c} of process ${process}`)
      }
      cells[process].write(firstValue + c)
    },
  }
}

/** As the reductions of a communicator ask for it. */
function optionsOf(collective: Collective, parts: number): MemoryOptions {
  const isTotal = collective === 'allreduce' || collective === 'reduce'
  return isTotal ? { isTotal, isShared: true, parts } : {}
}

const ofLibrary = fc
  .record({
    ranks: fc.integer({ min: 1, max: 12 }),
    segments: fc.integer({ min: 1, max: 4 }),
    draw: fc.nat(),
  })
  .chain(({ ranks, segments, draw }) => {
    const shape = { ranks, root: draw % ranks, segments }
    const serving = algorithms.filter(({ refuses }) => (refuses?.(shape) ?? null) === null)
    return fc.constantFrom(...serving).map((algorithm) => scheduleOf(algorithm, shape))
  })
const placed = fc
  .oneof(
    { weight: 3, arbitrary: ofLibrary },
    { weight: 1, arbitrary: collectiveWishes.map((wish) => randomReduction(wish)) },
  )
  .chain((schedule) => {
    const { ranks } = schedule.specification
    const alone = { placement: Int32Array.from({ length: ranks }, (_, rank) => rank), processes: ranks }
    return fc.record({
      schedule: fc.constant(schedule),
      where: fc.oneof(fc.constant(alone), placements(ranks)),
    })
  })

test('values that share memory are read before they are overwritten, whatever is read late', () => {
  const inPlace = new Set<string>()
  fc.assert(
    fc.property(placed, fc.nat(), ({ schedule, where: { placement, processes } }, seed) => {
      const { collective, partStart } = schedule.specification
      const lowered = lower(schedule, placement, processes)
      const options = optionsOf(collective as Collective, partStart[1])
      const cells = lowered.programs.map((program, process) => {
        const memory = valueMemory(program, options)
        const safe = memory.isSafeInPlace && (seed >> (process % 16)) % 2 === 0
        if (safe) inPlace.add(schedule.strategy)
        return new Cells(program, safe ? valueMemory(program, { ...options, isInPlace: true }) : memory, safe)
      })
      const watch = watchOf(lowered.programs, cells, seed)
      interpret(lowered, () => 0, { combine: () => 0, seed, watch })
      for (const one of cells) one.finish()
    }),
    { numRuns: cases(1_000) },
  )
  expect(inPlace.has('random')).toBe(true)
  expect(inPlace.size).toBeGreaterThan(1)
})
