// Walks through the communicators of an MPI job; process 0 prints what was called. Results are compared with
// those that mpi-collectives.c wrote to a folder, if there is one.
import { readFileSync } from 'node:fs'
import { mpi, run } from 'rankweave'
import { type CollectiveCase, casesOfMpi, nameOf } from './collective-cases.js'
import walk, { ranksPerProcess, totalsOf, type Walked } from './collective-walk.js'
import type { Walk } from './walked-calls.js'

const [argument, folder] = process.argv.slice(2) as [string, string?]
const given = JSON.parse(argument) as Walk
const perProcess = ranksPerProcess(given)
const ranks = perProcess.reduce((sum, count) => sum + count, 0)

/** Words of a rank in a case. */
const results = new Map<string, Int32Array>()
const read = new Set<number>()

function resultOf(each: CollectiveCase, rank: number): Int32Array | undefined {
  if (!read.has(rank)) readResults(rank)
  return results.get(`${rank}: ${nameOf(each)}`)
}

function readResults(rank: number): void {
  read.add(rank)
  const { buffer } = Uint8Array.from(readFileSync(`${folder}/${rank}`))
  const words = new Int32Array(buffer)
  let at = 0
  for (const each of casesOfMpi(given.mostRanks)) {
    if (rank >= each.ranks) continue
    const length = words[at]
    results.set(`${rank}: ${nameOf(each)}`, words.subarray(at + 1, at + 1 + length))
    at += 1 + length
  }
}

const main = (world: Parameters<typeof walk>[0]): Promise<Walked> =>
  walk(world, given, folder === undefined ? undefined : resultOf)
const options = given.order === 'dealt' ? { eagerLimitBytes: 100 } : {}
const walked = await run(main, { ranks, fabric: mpi({ ranksPerProcess: perProcess }), ...options })
// Process 0 alone gets what all ranks return.
if (walked.length === ranks) console.log(JSON.stringify(totalsOf(walked)))
