/**
 * The one place of a world that orders losses and decisions; its own loss ends the world. On `local` it is
 * the session, on `threads` the thread that called `run`, on `websocket` the rendezvous. MPI has none: there
 * a lost process ends the job.
 */
export interface Authority {
  /**
   * Whether it is in the session of the process, whose `quiet` then accounts for its decisions. Otherwise
   * what it answers is in flight without being counted, and a wait for it never counts as a deadlock.
   */
  readonly isHere: boolean
  /**
   * The contribution of this process to the decision `key`: one per process of `members`. Resolves, at every
   * process that survives, with the same value, once each member has contributed, is lost or has contributed
   * to the end of the world ({@link concernsEnd}); in a task of the fabric's own, never inside another call,
   * and after `peerLost` of every process in `lost`. Contributing has no effect on frames: they may arrive
   * before or after.
   *
   * @param key at most {@link maxKeyLength} characters; unique among the decisions of the world
   * @param members processes, ascending; the same at each of them, and this process among them
   * @param contribution at most {@link maxContributionBytes}; read before the call returns
   * @throws (by rejection) ERR_PEER_LOST when this process is itself lost to the world, ERR_WORLD_LOST when
   *   the authority is lost, ERR_FABRIC after `close` and for arguments that do not fit
   */
  decide(key: string, members: readonly number[], contribution: Uint8Array): Promise<Decision>
}

export interface Decision {
  /**
   * In the order of `members`; null for processes that had not contributed: those that were lost before, and
   * those that had already contributed to the end of the world, which are not in `lost`.
   */
  readonly contributions: readonly (Uint8Array | null)[]
  /**
   * Processes of the world that were lost before the decision, in the order in which the authority noticed.
   */
  readonly lost: readonly number[]
}

/**
 * Whether a decision is about the end of the world, by its name. A process contributes to one when its ranks
 * have returned, so no other decision waits for it from then on.
 */
export function concernsEnd(key: string): boolean {
  return key === 'end' || key.startsWith('end ')
}

/** Longest contribution to a decision. */
export const maxContributionBytes = 64
/** Longest name of a decision. */
export const maxKeyLength = 128
