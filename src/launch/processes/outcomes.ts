/** How a process ended. */
export type ProcessOutcome =
  | { readonly kind: 'returned'; readonly results: readonly unknown[]; readonly without?: readonly number[] }
  | { readonly kind: 'failed' }
  | { readonly kind: 'lost' }

/**
 * Whether the world did without the processes that were lost: all others have returned, and each has agreed
 * to do without each of them.
 *
 * @param outcomes by process; undefined for one that has not ended
 */
export function areSurvived(outcomes: readonly (ProcessOutcome | undefined)[]): boolean {
  const gone = [...outcomes.keys()].filter((process) => outcomes[process]?.kind === 'lost')
  const living = outcomes.filter((outcome) => outcome?.kind !== 'lost')
  return (
    living.length > 0 &&
    living.every(
      (outcome) =>
        outcome?.kind === 'returned' && gone.every((process) => outcome.without?.includes(process) === true),
    )
  )
}
