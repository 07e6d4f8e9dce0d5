import type { ServerResponse } from 'node:http'

/** Ends the connection of an answer of which the client has read nothing for so long. */
export function endWhenStalled(answer: ServerResponse, ms: number): void {
  answer.setTimeout(ms, () => answer.destroy())
}
