import { bytesOf, wordsOf } from '../../base/bytes.js'
import type { Exchange } from '../../calls/exchange/exchange.js'

/** The words that one process has for another. */
export interface Parcel {
  readonly from: number
  readonly to: number
  readonly words: Int32Array
}

export interface Relayed {
  /** The parcels for this process, in the order of their senders. */
  readonly parcels: readonly Parcel[]
  /** The largest of the numbers that the processes gave. */
  readonly greatest: number
}

const headWords = 3

/**
 * Brings parcels to processes that do not expect them. In stage i a process sends one message, to the process 2^i
 * ahead, with the parcels whose distance has that bit. This takes lg `count` messages per process, whatever there is to
 * send. A parcel takes as many stages as its distance has ones, lg(`count`) / 2 on average. Takes a step per stage, up
 * to 31.
 *
 * @param parcels of this process, at most one for each; not to itself
 * @param greatest a number of this process, of which the largest over all processes is returned
 * @see Bruck et al. 1997 (index with radix 2)
 */
export async function relay(
  exchange: Exchange,
  parcels: readonly Parcel[],
  greatest: number,
  step: number,
): Promise<Relayed> {
  const { me, count } = exchange
  let held: Parcel[] = [...parcels]
  const kept: Parcel[] = []
  let largest = greatest
  for (let stage = 0, distance = 1; distance < count; stage++, distance *= 2) {
    const goes = ({ to }: Parcel) => (((to - me + count) % count) & distance) !== 0
    exchange.send((me + distance) % count, step + stage, bytesOf(packed(largest, held.filter(goes))))
    held = held.filter((parcel) => !goes(parcel))
    const arrived = wordsOf(await exchange.receive((me - distance + count) % count, step + stage))
    largest = Math.max(largest, arrived[0])
    for (const parcel of unpacked(arrived)) (parcel.to === me ? kept : held).push(parcel)
  }
  return { parcels: kept.sort((a, b) => a.from - b.from), greatest: largest }
}

function packed(first: number, parcels: readonly Parcel[]): Int32Array {
  const length = parcels.reduce((sum, { words }) => sum + headWords + words.length, 1)
  const all = new Int32Array(length)
  all[0] = first
  let at = 1
  for (const { from, to, words } of parcels) {
    all.set([from, to, words.length], at)
    all.set(words, at + headWords)
    at += headWords + words.length
  }
  return all
}

/** Returns views of a message's parcels; of an altered message those that can be read. */
function unpacked(all: Int32Array): Parcel[] {
  const parcels: Parcel[] = []
  for (let at = 1; at + headWords <= all.length; ) {
    const [from, to, length] = all.subarray(at, at + headWords)
    at += headWords
    if (length < 0 || at + length > all.length) break
    parcels.push({ from, to, words: all.subarray(at, at + length) })
    at += length
  }
  return parcels
}
