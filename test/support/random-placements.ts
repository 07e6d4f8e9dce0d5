import fc from 'fast-check'

export interface RandomPlacement {
  /** Process of every rank. */
  readonly placement: Int32Array
  /** Some of them may host no rank. */
  readonly processes: number
}

/** Where ranks live: anywhere, or in turn. */
export const placements = (ranks: number): fc.Arbitrary<RandomPlacement> =>
  fc
    .integer({ min: 1, max: ranks + 1 })
    .chain((processes) =>
      fc
        .oneof(
          { weight: 3, arbitrary: fc.array(fc.nat(processes - 1), { minLength: ranks, maxLength: ranks }) },
          { weight: 1, arbitrary: fc.constant(Array.from({ length: ranks }, (_, rank) => rank % processes)) },
        )
        .map((process) => ({ placement: Int32Array.from(process), processes })),
    )
