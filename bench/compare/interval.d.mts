export declare function ratioInterval(
  before: readonly number[],
  after: readonly number[],
): readonly [low: number, high: number]
export declare function medianInterval(ratios: readonly number[]): readonly [low: number, high: number]
export declare function medianOf(values: readonly number[]): number
