/**
 * Returns a number that the ranks of a call draw alike without a message. It depends on its arguments only, not on
 * other calls of a rank. It is one of 2^32 values, evenly spread over [0, 1).
 *
 * All arguments count modulo 2^32. Allocates nothing.
 *
 * @param seed of the run
 * @param communicator alike on all its members
 * @param call number of the call on that communicator
 * @param collective place of the collective among all
 */
export function callDraw(seed: number, communicator: number, call: number, collective: number): number {
  return drawOfCall(communicatorDraws(seed, communicator), call, collective)
}

/** Returns the part that the draws of one communicator share, for {@link drawOfCall}. */
export function communicatorDraws(seed: number, communicator: number): number {
  return mixed(mixed(seed ^ 0x9e3779b9) ^ communicator)
}

/** Returns the number of {@link callDraw}. @param draws from {@link communicatorDraws} */
export function drawOfCall(draws: number, call: number, collective: number): number {
  const hash = mixed((draws + 0x7f4a7c15) ^ call)
  return (mixed((hash + 0x2545f491) ^ collective) >>> 0) / 2 ** 32
}

/** Mixes a word by the finalizer of MurmurHash3: every bit of the result depends on every bit of the word. */
function mixed(word: number): number {
  let hash = word | 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}
