import { run } from 'rankweave'
import type { FabricFactory } from 'rankweave/fabric'
import { type ExpectedFabric, expectedFabric } from '../../src/conformance/world-case.js'
import type { ConformanceArgs } from '../../src/conformance/world-conformance.js'
import { allCases } from '../../src/conformance/world-conformance.js'

const program = new URL('../../dist/conformance/program.js', import.meta.url)

const inTurn = (begin: string, nth: number) => (name: string, n: number) =>
  name.startsWith(begin) && n % nth !== 0
/** How schedules and mappings are computed is the same on every fabric: of these, some are enough for another one. */
const leftOut = [
  inTurn('algorithm ', 8),
  inTurn('neighbor collectives by ', 5),
  (name: string) => /^communicators reordered for (pairs|edges|busiest-node)$/.test(name),
]

/** Of the cases that share one world of default settings. */
const names = allCases
  .filter(({ fails, settings }) => fails === undefined && settings === undefined)
  .map(({ name }) => name)
  .filter((name, n) => !leftOut.some((isLeftOut) => isLeftOut(name, n)))

/** What a fabric must be, each process of it on its own where it may be anywhere. */
export const expectedOf = (fabric: FabricFactory): ExpectedFabric =>
  expectedFabric(fabric, fabric.kind === 'websocket' ? { places: 'OS processes' } : {})

/** Runs them on one world of a fabric of processes or threads. */
export async function runInOneWorld(fabric: FabricFactory, ranks: number): Promise<void> {
  const { ranksPerProcess } = fabric
  const given = ranksPerProcess === undefined ? {} : { ranksPerProcess }
  const context = {
    expected: { ...expectedOf(fabric), ranks, ...given },
    seed: ranks,
    rounds: 1,
    largeBytes: 2 ** 23,
  }
  await run<unknown, ConformanceArgs>(program, { ranks, fabric, hosted: false, args: { names, context } })
}
