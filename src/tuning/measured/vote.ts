/** The models that vote. If all disagree, the first decides: PLogP and LogGP weigh more than Hockney. */
export const votingModels = ['plogp', 'loggp', 'hockney'] as const

/**
 * Returns the choice with most votes, of equally many that of the earliest voter.
 *
 * @param choices one of each voter; null abstains
 * @returns null if all abstain
 * @see Pjesivac-Grbovic 2007 §5.2.3
 */
export function elected<T>(choices: readonly (T | null)[]): T | null {
  const votesOf = (choice: T): number => choices.filter((other) => other === choice).length
  return choices.reduce<T | null>(
    (best, choice) => (choice !== null && (best === null || votesOf(choice) > votesOf(best)) ? choice : best),
    null,
  )
}
