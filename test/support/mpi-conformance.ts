import { type Communicator, mpi } from 'rankweave'
import {
  type ConformanceCase,
  type ConformanceOptions,
  collectiveConformance,
  fabricConformance,
} from 'rankweave/conformance'
import type { FabricFactory } from 'rankweave/fabric'

/** What a job checks: the fabric, then worlds of each kind. */
export type Checked = readonly Pick<ConformanceOptions, 'ranks' | 'rounds' | 'matchingDesign'>[] | 'small'

/** Of worlds in a job of `npm test`: what reaches the fabric in another way than the cases before it. */
const smallCases = [
  'the world has the expected fabric, processes, threads and OS processes',
  'counters report messages and bytes, within and between processes',
  'every send call matches every receive call, within and between processes',
  'empty messages arrive, each once and in order (eagerLimitBytes 0)',
  'large messages arrive complete, to other ranks and to the rank itself, in both directions at once and in parts of a buffer (eagerLimitBytes 0)',
  'matching keeps the order of every sender, with wildcards, under random interleavings',
  'allreduce, with the same bits on every rank',
  'allgatherv',
  'split groups ranks by color and orders them by key, also on the result of a split',
  'neighbor collectives by direct',
  'abort ends the world while its ranks wait in any call',
  'a cycle of waiting ranks is reported as a deadlock',
]

/** The cases in their order. */
export function casesOf(checked: Checked, fabric: FabricFactory): readonly ConformanceCase[] {
  const worlds =
    checked === 'small'
      ? smallCases.map((name) => {
          const found = collectiveConformance(fabric, { ranks: 5 }).find((each) => each.name === name)
          if (found === undefined) throw new Error(`there is no case '${name}'`)
          return found
        })
      : checked.flatMap((options) => collectiveConformance(fabric, { ...options, sharedWorlds: true }))
  return [...fabricConformance(fabric), ...worlds]
}

/** A program has this form beside the one that is run. */
export default function main(): never {
  throw new Error('expected the form for all ranks of a process to run')
}

/**
 * Runs this process's part of every case, each in worlds of its own beside that of the command.
 *
 * @returns for each rank the names of the cases that have passed
 */
export async function hosted(
  worlds: readonly Communicator[],
  [text]: readonly string[],
): Promise<string[][]> {
  const passed: string[] = []
  for (const { name, run } of casesOf(JSON.parse(text!) as Checked, mpi())) {
    await run()
    passed.push(name)
  }
  return worlds.map(() => passed)
}
