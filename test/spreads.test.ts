import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../src', import.meta.url))

/**
 * Calls in src that spread a list into their arguments, by file, and why that list is short: a call with more
 * than some 125,000 arguments throws a RangeError. Spreads into arrays are not limited.
 */
const shortLists: Readonly<Record<string, readonly (readonly [spread: string, why: string])[]>> = {
  'calls/call-report.ts': [['...sitesOf(state, slot)', 'limited']],
  'cli/cli.ts': [['...args', 'arguments of a command']],
  'cli/commands/export.ts': [['...operations', 'a constant']],
  'cli/commands/map.ts': [
    ['...objectives', 'a constant'],
    ['...formats', 'a constant'],
  ],
  'cli/commands/models.ts': [['...levels', 'a constant']],
  'cli/commands/planned-topology.ts': [['...wanted', 'arguments of a call']],
  'cli/commands/topology.ts': [['...topologyFormats', 'a constant']],
  'cli/input/matching-design.ts': [['...mailboxDesigns', 'a constant']],
  'cli/input/measure-options.ts': [
    ['...elementTypes', 'a constant'],
    ['...levels', 'a constant'],
  ],
  'cli/input/world-options.ts': [['...bindings', 'a constant']],
  'fabric/threads/core-binding.ts': [['...processors', 'hardware threads of a core']],
  'cli/output/reporter.ts': [
    ['...shown.map(([label]) => label.length)', 'rows of a printed table'],
    ['...rows.map((row) => row[c].length)', 'rows of a printed table'],
  ],
  'cli/commands/tune.ts': [['...outputs.map(({ file }) => file)', 'a file for each option of outputs']],
  'cli/program/rank-output.ts': [['...rest', 'arguments of a write']],
  'cli/program/join-program.ts': [['...badInput', 'a constant']],
  'cli/program/world-failure.ts': [['...notStarted', 'a constant']],
  'comm/table/shared-tables.ts': [['...header', 'words of a header']],
  'world/diagnosis-text.ts': [
    ['...limited(collectiveLines(known))', 'limited'],
    ['...limited(pointToPointLines(known.flatMap(({ waits }) => waits)))', 'limited'],
    ['...limited(queuedLines(known.flatMap(({ queued }) => queued)))', 'limited'],
    ['...places', 'limited'],
  ],
  'conformance/expect.ts': [['...codes', 'codes of a case']],
  'conformance/scalar-checks.ts': [
    ['...ranks.map(leaf)', 'ranks of a world under test'],
    ['...below', 'ranks of a world under test'],
  ],
  'conformance/world-checks.ts': [
    ['...placeHere()', 'two numbers'],
    ['...ranksOn.values()', 'processes of a world under test'],
  ],
  'conformance/fabric-conformance.ts': [
    ["...(['expected', 'seed', 'rounds', 'large'] as const)", 'a constant'],
  ],
  'conformance/world-conformance.ts': [
    [
      "...(['ranks', 'expected', 'seed', 'rounds', 'large', 'sharedWorlds', 'matchingDesign'] as const)",
      'a constant',
    ],
  ],
  'conformance/hosted-checks.ts': [['...jointArguments(name, forms)', 'arguments of a call']],
  'conformance/process-cases.ts': [['...placeHere()', 'two numbers']],
  'topology-communicator/joint-neighbor-calls.ts': [['...args', 'arguments of a call']],
  'topology-communicator/constructors.ts': [['...seat', 'arguments of a constructor']],
  'topology-communicator/topology-methods.ts': [['...args', 'arguments of a call']],
  'topology-communicator/distributed/agreed-plan.ts': [
    ['...least', 'words of a digest'],
    ['...most', 'words of a digest'],
  ],
  'service/http/topology-routes.ts': [['...of', 'arguments of a call']],
  'service/jobs/jobs.ts': [['...of', 'arguments of a call']],
  'cli/commands/learn.ts': [
    ['...applicationNames', 'names of applications'],
    ['...arrivalPatterns', 'names of patterns'],
  ],
  'tuning/models/decision-grid.ts': [['...bytes.subarray(at, at + piece)', '32,768 bytes']],
  'topology/grouping/improve-round.ts': [
    ['...free.slice(0, (largestPool - pool.length) >> 1)', 'the largest pool'],
    ['...this.#groups[g]', 'the largest pool'],
  ],
}

/** The spreads into arguments in one file. */
function spreadsIn(path: string): string[] {
  const text = readFileSync(`${root}/${path}`, 'utf8')
  if (!/[(,]\s*\.\.\./.test(text)) return []
  const spreads: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isSpreadElement(node) && (ts.isCallExpression(node.parent) || ts.isNewExpression(node.parent))) {
      spreads.push(node.getText())
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true))
  return spreads
}

const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
  /\.m?ts$/.test(path),
)

describe('lists that are spread into arguments', () => {
  it('are those that are known to be short', () => {
    const found = sources
      .map((path) => [path, [...new Set(spreadsIn(path))]] as const)
      .filter(([, spreads]) => spreads.length > 0)
    const known = Object.entries(shortLists).map(([path, spreads]) => [
      path,
      spreads.map(([spread]) => spread),
    ])
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(known))
  })
})
