import type { ProcessProgram } from '../../schedule/lower/program.js'
import type { BlockStore } from './block-store.js'
import { copyWords } from './memory-words.js'
import type { ReceiveBuffers } from './receive-buffers.js'

/**
 * Copies every value into the slots it fills.
 *
 * @param receive where the receive buffer of every hosted rank is
 * @param fillTo where in its rank's buffer each fill of the program goes
 */
export function fillSlots(
  { fillStart, fillRank }: ProcessProgram,
  { words, start, length }: BlockStore,
  receive: Pick<ReceiveBuffers, 'words' | 'base'>,
  fillTo: Int32Array,
): void {
  for (let v = 0; v + 1 < fillStart.length; v++) {
    const from = start[v]
    const count = length[v]
    for (let f = fillStart[v]; f < fillStart[v + 1]; f++) {
      const rank = fillRank[f]
      copyWords(words, from, receive.words[rank], receive.base[rank] + fillTo[f], count)
    }
  }
}
