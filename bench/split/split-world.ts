// Memory and time of a world split, in its own process: `memory RANKS PROCESSES` on logical processes,
// `kernel ENTRIES RUNS` the sort of entries of 1000 colors, `million RANKS RUNS` the split with all colors
// and keys in one process, `mains RANKS WEIGH` the split called by as many awaiting mains, timed or (1)
// weighed.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { CommDescription } from '../../src/comm/describe.js'
import { groupsOfTable } from '../../src/comm/split/conventional.js'
import { sortRows } from '../../src/comm/split/rows.js'
import type { Communicator } from '../../src/handles/communicator.js'
import { run } from '../../src/launch/run.js'

const [what, first, second] = process.argv.slice(2)
const ranks = Number(first)
const count = Number(second)

function randomWords(length: number): Int32Array {
  let state = 12345
  return Int32Array.from({ length }, () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state
  })
}

function timed(work: () => void): number {
  const begin = performance.now()
  work()
  return (performance.now() - begin) / 1000
}

if (what === 'memory') {
  const keys = randomWords(ranks)
  const described = await run<CommDescription | undefined, undefined>(
    async (world) => {
      const part = await world.split(0, keys[world.rank], { table: 'distributed' })
      return world.rank % (ranks / count) === 0 ? part.describe() : undefined
    },
    { ranks, processes: count },
  )
  const all = described.filter((each) => each !== undefined)
  const peak = Math.max(...all.map(({ split }) => split!.peakBytes))
  const retained = Math.max(...all.map(({ table }) => table.bytes + table.sharedBytes))
  console.log(JSON.stringify({ peak, retained, processes: all.length }))
} else if (what === 'kernel') {
  const key = randomWords(ranks)
  const color = Int32Array.from({ length: ranks }, (_, rank) => rank % 1000)
  const samples = Array.from({ length: count }, () => {
    let words: Int32Array = new Int32Array(3 * ranks)
    const took = timed(() => {
      for (let rank = 0, at = 0; rank < ranks; rank++, at += 3) {
        words[at] = color[rank]
        words[at + 1] = key[rank]
        words[at + 2] = rank
      }
      words = sortRows(3, words, new Int32Array(words.length))
    })
    for (let at = 3; at < words.length; at += 3) {
      const rises =
        words[at] > words[at - 3] || (words[at] === words[at - 3] && words[at + 1] >= words[at - 2])
      if (!rises) throw new Error('not sorted')
    }
    return took
  })
  console.log(JSON.stringify({ samples }))
} else if (what === 'mains') {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const bytesInUse = () => {
    collectGarbage()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const colors = 1000
  const before = count === 1 ? bytesInUse() : 0
  let bytesPerRank: number | null = null
  const begin = performance.now()
  await run<void, undefined>(
    async (world: Communicator) => {
      const part = await world.split(world.rank % colors, -world.rank)
      await world.barrier()
      // Every other rank waits in the next barrier, with its communicator.
      if (count === 1 && world.rank === 0) bytesPerRank = (bytesInUse() - before) / ranks
      await world.barrier()
      if (part.size !== ranks / colors || part.rank !== part.size - 1 - Math.floor(world.rank / colors)) {
        throw new Error(`rank ${world.rank} has rank ${part.rank} of ${part.size}`)
      }
    },
    { ranks },
  )
  console.log(JSON.stringify({ seconds: (performance.now() - begin) / 1000, bytesPerRank }))
} else {
  const key = randomWords(ranks)
  const color = new Int32Array(ranks)
  let bytes = 0
  const samples = Array.from({ length: count }, () =>
    timed(() => {
      const { start, members } = groupsOfTable({ color, key })
      bytes = start.byteLength + members.byteLength
    }),
  )
  console.log(JSON.stringify({ samples, bytesPerRank: bytes / ranks }))
}
