/**
 * The statements of a user about all programs that use a file of rules. Rules see neither the operation of a reduction
 * nor the arguments of other ranks. Without such a statement they name no setting that depends on it.
 *
 * - `commutative`: reductions are by operations that are commutative.
 * - `equal-arguments`: the ranks of a call pass equal counts and datatypes, in place also those that MPI ignores.
 */
export const ruleAssumptions = ['commutative', 'equal-arguments'] as const

export type RuleAssumption = (typeof ruleAssumptions)[number]

/** A file of rules, and the number of its rules that leave the choice to the library because a statement is missing. */
export interface WrittenRules {
  readonly text: string
  readonly left: Readonly<Record<RuleAssumption, number>>
}
