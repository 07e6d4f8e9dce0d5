/** A mutant that does what the original does: no test can notice it, so it does not count. */
export interface Equivalent {
  readonly path: string
  /** The line of the source, trimmed; the first line of a change that has several. */
  readonly line: string
  readonly replacement: string
  readonly why: string
}

export const equivalents: readonly Equivalent[] = [
  {
    path: 'src/schedule/operation-log.ts',
    line: '#isSorted = true',
    replacement: 'false',
    why: 'what is sorted already is sorted again',
  },
  {
    path: 'src/schedule/operation-log.ts',
    line: '#lastRank = -1',
    replacement: '1',
    why: 'what is sorted already is sorted again',
  },
  {
    path: 'src/schedule/operation-log.ts',
    line: '#lastPhase = -1',
    replacement: '1',
    why: 'the first operation is of a rank above the last one, whatever its phase',
  },
  {
    path: 'src/schedule/operation-log.ts',
    line: '#lastClass = -1',
    replacement: '1',
    why: 'the first operation is of a rank above the last one, whatever its class',
  },
  {
    path: 'src/schedule/operation-log.ts',
    line: 'rank > this.#lastRank ||',
    replacement: '&&',
    why: 'what is sorted already is sorted again',
  },
  {
    path: 'src/schedule/operation-log.ts',
    line: 'if (!isInOrder) this.#isSorted = false',
    replacement: 'true',
    why: 'what is sorted already is sorted again',
  },
  {
    path: 'src/schedule/operation-log.ts',
    line: 'for (let op = 0; op < count; op++) byClass[next[classOf(kinds[op])]++] = op',
    replacement: '<=',
    why: 'beyond the last operation is none',
  },
  {
    path: 'src/schedule/operation-log.ts',
    line: 'const [steps, stepOf] = this.#phases > count ? numbered(phases) : [this.#phases, phases]',
    replacement: '(this.#phases > count) ? [this.#phases, phases] : numbered(phases)',
    why: 'the same order, in other memory and time',
  },
  {
    path: 'src/schedule/operation-log.ts',
    line: 'const [steps, stepOf] = this.#phases > count ? numbered(phases) : [this.#phases, phases]',
    replacement: '>=',
    why: 'the same order, in other memory and time',
  },
  {
    path: 'src/schedule/builder.ts',
    line: 'const { specification, phases = 0 } = head',
    replacement: '(0 + 1)',
    why: 'one phase is as valid as none',
  },
  {
    path: 'src/schedule/message-pairs.ts',
    line: 'if (opTag[ops[i]] >= opTag[ops[i - 1]]) continue',
    replacement: '>',
    why: 'what is sorted already is sorted again',
  },
  {
    path: 'src/schedule/message-pairs.ts',
    line: 'if (opTag[ops[i]] >= opTag[ops[i - 1]]) continue',
    replacement: 'false',
    why: 'what is sorted already is sorted again',
  },
  {
    path: 'src/schedule/message-pairs.ts',
    line: 'return',
    replacement: ';',
    why: 'what is sorted already is compared again',
  },
  {
    path: 'src/schedule/verify/term-table.ts',
    line: '#count = 0',
    replacement: '(0 + 1)',
    why: 'the first number remains unused',
  },
  {
    path: 'src/schedule/verify/reduction-check.ts',
    line: 'this.#awaited = new Int32Array(reductions > 0 ? specification.ranks : 0)',
    replacement: '(0 + 1)',
    why: 'an element that is not used',
  },
  {
    path: 'src/schedule/verify/reduction-check.ts',
    line: 'if (known !== undefined && Math.floor(known / 4) === reduction) return known % 4',
    replacement: 'false',
    why: 'the same verdict, in more time',
  },
  {
    path: 'src/schedule/verify/reduction-check.ts',
    line: 'else awaited[origin] = 2',
    replacement: '(2 + 1)',
    why: 'any number but 0 and 1',
  },
  {
    path: 'src/schedule/verify/verify-progress.ts',
    line: 'if (kinds[op] === opKind.send && partner[op] !== -1 && opPhase[op] !== opPhase[partner[op]]) return false',
    replacement: '||',
    why: 'a schedule that is not found to be aligned is ordered by its waits, in more time',
  },
  {
    path: 'src/schedule/verify/verify-progress.ts',
    line: 'for (let op = 0; op < partner.length; op++) {',
    replacement: '<=',
    why: 'beyond the last operation is no send',
  },
  {
    path: 'src/schedule/verify/verify-progress.ts',
    line: 'for (let row = 0; row < count; row++) if (waits[row] === 0) order[finished++] = row',
    replacement: '<=',
    why: 'beyond the last row is none that waits for 0',
  },
  {
    path: 'src/schedule/verify/verify-progress.ts',
    line: 'if (isAligned(schedule, partner) && schedule.phases <= 4 * count + 1024) return byPhase(schedule, rows)',
    replacement: '<',
    why: 'at the limit either way of finding an order is right',
  },
  {
    path: 'src/schedule/verify/verify-specification.ts',
    line: 'if (count === 0) return',
    replacement: ';',
    why: 'without reductions there is nothing to check',
  },
  {
    path: 'src/schedule/verify/verify-progress.ts',
    line: 'for (let row = 0; row < count; row++) if (waits[row] > 0) order[finished++] = row',
    replacement: '<=',
    why: 'beyond the last row is none that waits',
  },
  {
    path: 'src/schedule/verify/verify-specification.ts',
    line: 'if (count === 0) return',
    replacement: 'false',
    why: 'without reductions there is nothing to check',
  },
  {
    path: 'src/schedule/verify/verify-specification.ts',
    line: 'if (to - from === 1 && parts.perRank > 0)',
    replacement: 'false',
    why: 'the same by a look at every block',
  },
  {
    path: 'src/schedule/verify/violations.ts',
    line: 'verification({ unproven = [], isOrdered = false, association = null }: Proof = {}): Verification {',
    replacement: 'true',
    why: 'nothing is ordered where there are violations, and only then is it left out',
  },
  {
    path: 'src/schedule/file/write-rank-line.ts',
    line: 'while (negative < to && values[negative] >= 0) negative++',
    replacement: '<=',
    why: 'the slow path writes the same',
  },
  {
    path: 'src/schedule/file/schedule-file.ts',
    line: 'const chunkBytes = 1 << 16',
    replacement: '(16 + 1)',
    why: 'pieces of another size join to the same text',
  },
  {
    path: 'src/schedule/file/schedule-file.ts',
    line: 'const chunkBytes = 1 << 16',
    replacement: '(1 + 1)',
    why: 'pieces of another size join to the same text',
  },
  {
    path: 'src/schedule/file/write-rank-line.ts',
    line: 'while (negative < to && values[negative] >= 0) negative++',
    replacement: '(0 + 1)',
    why: 'the slow path writes the same',
  },
  {
    path: 'src/calls/program/run-program.ts',
    line: '#readyCount = 0',
    replacement: '(0 + 1)',
    why: 'every start sets it',
  },
  {
    path: 'src/calls/program/run-program.ts',
    line: '#begun = 0',
    replacement: '(0 + 1)',
    why: 'every start sets it',
  },
  {
    path: 'src/schedule/lower/lower-values.ts',
    line: 'for (let v = received.term.length - 1; v >= 0; v--) {',
    replacement: '+',
    why: 'beyond the last term is none of a block',
  },
  {
    path: 'src/schedule/lower/lower-values.ts',
    line: 'for (let frame = 0; frame < round.length; frame++) {',
    replacement: '<=',
    why: 'beyond the last frame are no terms',
  },
  {
    path: 'src/schedule/lower/value-memory.ts',
    line: 'if (term < 0 && !this.#slotOfPart.has(~term)) this.#slotOfPart.set(~term, slot)',
    replacement: '<=',
    why: 'the slot of block 0 would be that of no part, and without parts nothing is written early but a final combination',
  },
  {
    path: 'src/schedule/lower/lower-values.ts',
    line: 'for (let e = entryStart[from]; e < entryStart[to]; e++) if (entryBlock[e] < 0) return true',
    replacement: '<=',
    why: 'what has no partial results is traced, and lowered to the same',
  },
  {
    path: 'src/schedule/lower/lower-values.ts',
    line: 'for (let i = 0; i < entry.length; i++) if (entry[i] !== -1) index[entry[i] - least] = i',
    replacement: '<=',
    why: 'no entry is undefined, and a typed array has no place NaN',
  },
  {
    path: 'src/collective/patterns/specification-of.ts',
    line: 'const reductions = new ReductionTable(partsOf(0))',
    replacement: '(0 + 1)',
    why: 'in a reduction all ranks have equally many parts, and elsewhere the table is not used',
  },
  {
    path: 'src/collective/patterns/prefix-by-tree.ts',
    line: 'if (left === rank) lefts.push(held)',
    replacement: 'true',
    why: 'of the last node of the path only, where the value is not read if the left half is of another rank',
  },
  ...['>', '(0 + 1)'].map((replacement) => ({
    path: 'src/collective/patterns/prefix-by-tree.ts',
    line: 'if (before >= 0) operations.combine(rank, highest - level - 1, part, before, lefts[i], given)',
    replacement,
    why: 'place 0 is of what the rank contributes',
  })),
  ...['<=', '(0 + 1)'].map((replacement) => ({
    path: 'src/collective/patterns/prefix-by-tree.ts',
    line: 'const given = before < 0 ? lefts[i] : operations.stage(rank)',
    replacement,
    why: 'place 0 is of what the rank contributes',
  })),
]
