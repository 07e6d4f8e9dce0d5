export interface WaitOptions {
  /** Ends the wait with ERR_ABORTED. On a collective this also revokes the communicator (decision 10). */
  readonly signal?: AbortSignal
}
