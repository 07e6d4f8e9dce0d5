import { concatenateWords } from '../base/packing.js'
import { RankweaveError } from '../errors.js'
import { programWords } from '../export/c-program.js'
import type { Schedule } from '../schedule/ir.js'
import { lower } from '../schedule/lower/lower.js'
import { upTo } from '../schedule/specification.js'

const magic = 0x4e505752
const version = 1
const headerWords = 4

/**
 * Writes the file from which a preloaded library takes the plan of a neighbor allgather; every process reads only its
 * own part. The file consists of 32-bit words in the order of this machine; the head of `c/plan-file.c` explains them.
 * The schedule should have been verified.
 *
 * @throws ERR_SHIM for a schedule of another collective, and for one with waits
 * @throws ERR_SCHEDULE as `lower`
 */
export function planWords(schedule: Schedule): Int32Array {
  const { specification, topology } = schedule
  const { collective, ranks } = specification
  if (collective !== 'neighbor-allgather' || topology === null) {
    const message = `expected the plan of a neighbor allgather, got one of ${collective}`
    throw new RankweaveError('ERR_SHIM', message)
  }
  if (schedule.opAfter.length > 0) {
    const message =
      'expected a plan in which no message waits for phases, which preloaded libraries do not do'
    throw new RankweaveError('ERR_SHIM', message)
  }
  const { inRank, inStart, outRank, outStart } = topology
  const parts = lower(schedule, upTo(ranks), ranks).programs.map((program, rank) => {
    const sources = inRank.subarray(inStart[rank], inStart[rank + 1])
    const destinations = outRank.subarray(outStart[rank], outStart[rank + 1])
    const lengths = [0, sources.length, destinations.length]
    const part = concatenateWords([lengths, sources, destinations, programWords(program, ranks)])
    part[0] = checksum(part.subarray(1))
    return part
  })
  const begin = headerWords + 2 * (ranks + 1)
  const words = concatenateWords([new Int32Array(begin), ...parts])
  let at = begin
  for (const [rank, part] of parts.entries()) {
    words.set(twoWords(at), headerWords + 2 * rank)
    at += part.length
  }
  words.set(twoWords(at), headerWords + 2 * ranks)
  // No plan has the name 0.
  words.set([magic, version, ranks, checksum(words.subarray(headerWords)) || 1])
  return words
}

/** Computes FNV-1a over words. */
function checksum(words: Int32Array): number {
  let sum = 2_166_136_261
  for (const word of words) sum = Math.imul(sum ^ word, 16_777_619)
  return sum | 0
}

function twoWords(count: number): [low: number, high: number] {
  return [count | 0, Math.floor(count / 2 ** 32)]
}
