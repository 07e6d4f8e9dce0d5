import { isRankweaveError, reasonText } from '../../errors.js'

/** What the rendezvous is told of the error of a world. */
export function failureText(error: unknown): string {
  if (isRankweaveError(error)) return `${error.code}: ${error.message}`
  return error instanceof Error ? `${error.name}: ${reasonText(error)}` : reasonText(error)
}
