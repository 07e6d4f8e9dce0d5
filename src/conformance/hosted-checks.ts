import type { PersistentRequest } from '../calls/program/planned-call.js'
import { Communicator, together } from '../handles/communicator.js'
import type { TopologyCommunicator } from '../handles/topology-communicator.js'
import { dimsCreate } from '../topology/generate/cartesian.js'
import { mooreTopology } from '../topology/generate/stencil.js'
import {
  callByName,
  checkFilled,
  checkResult,
  collectiveForms,
  type FormCase,
  type FormCases,
} from './collective-forms.js'
import { same } from './collective-oracles.js'
import { neighborForms } from './neighbor-checks.js'
import type { HostedCase } from './world-case.js'

type Handles = readonly Communicator[]

const lengths = [3, 300]

/** The cases of all ranks of a process, which list the same calls in the same order. */
type Round = readonly { readonly name: string; readonly forms: readonly FormCase[] }[]

function roundOf(all: readonly FormCases[]): Round {
  return Object.entries(all[0].cases).flatMap(([name, cases]) =>
    cases.map((_, n) => ({ name, forms: all.map((each) => each.cases[name][n]) })),
  )
}

/**
 * Makes every call: by all ranks of a process at once if `isJoint`, otherwise by each. Processes may differ in that.
 *
 * @param handles of all ranks of a communicator here
 */
async function callForAll(handles: Handles, all: readonly FormCases[], isJoint: boolean): Promise<void> {
  for (const forms of all) forms.fill(0)
  for (const { name, forms } of roundOf(all)) {
    const call = (comm: Communicator, i: number) => callByName(comm, name, forms[i].call) as Promise<unknown>
    // A barrier of all ranks resolves to no list.
    const results = isJoint
      ? ((await together(handles, call)) as unknown[] | undefined)
      : await Promise.all(handles.map(call))
    for (const [i, form] of forms.entries()) checkResult(form, results?.[i], 0, `${name} of all ranks`)
  }
}

/** Binds every call; the requests of all ranks are started at once if `isJoint`. */
async function startForAll(
  handles: Handles,
  all: readonly FormCases[],
  isJoint: (round: number) => boolean,
): Promise<void> {
  const bound = roundOf(all).map(({ name, forms }) => ({
    name: `${name}Init`,
    forms,
    requests: handles.map((comm, i) => callByName(comm, `${name}Init`, forms[i].init) as PersistentRequest),
  }))
  for (let round = 0; round < 3; round++) {
    for (const forms of all) forms.fill(round)
    await Promise.all(
      bound.map(({ requests }) =>
        isJoint(round)
          ? Communicator.startAll(requests)
          : Promise.all(requests.map((request) => request.start())),
      ),
    )
    for (const { name, forms } of bound)
      for (const form of forms) checkFilled(form, round, `start ${round} of ${name} of all ranks`)
  }
  for (const { requests } of bound) for (const request of requests) request.free()
}

/**
 * Checks the collectives on the world and on its ranks reversed. Every second process calls for each rank in every
 * second round.
 */
async function checkCollectives(worlds: Handles): Promise<void> {
  const { process } = worlds[0].location
  const reversed = await together(worlds, (world) => world.split(0, -world.rank))
  for (const handles of [worlds, reversed]) {
    for (const [n, length] of lengths.entries()) {
      const all = handles.map((comm) => collectiveForms(comm, length))
      await callForAll(handles, all, n === 0 || process % 2 === 0)
      await startForAll(handles, all, (round) => round !== 1 || process % 2 === 0)
    }
  }
  await Promise.all(reversed.map((comm) => comm.free()))
}

/** Checks neighborhood collectives on a Moore neighborhood of all ranks, in which edges are numbered by their ends. */
async function checkNeighbors(worlds: Handles): Promise<void> {
  const { process } = worlds[0].location
  const { size } = worlds[0]
  const topology = mooreTopology({ dims: [...dimsCreate(size, 2)], radius: 1, periodic: false })
  const graphs = await Promise.all(worlds.map((world) => world.createTopology(topology)))
  for (const [n, length] of [0, 40].entries()) {
    const all = graphs.map((graph) => neighborForms(graph, edgesOf(graph), 4, length))
    await callForAll(graphs, all, n === 0 || process % 2 === 0)
    await startForAll(graphs, all, (round) => round !== 1 || process % 2 === 0)
  }
  await Promise.all(graphs.map((graph) => graph.free()))
}

/** Returns the edges of a rank. No two edges of a grid that is not periodic have the same ends. */
function edgesOf({ rank, size, sources, destinations }: TopologyCommunicator) {
  return {
    sent: Array.from(destinations, (to) => rank * size + to),
    received: Array.from(sources, (from) => from * size + rank),
  }
}

/** Checks splits with ranks of several colors in one process, and one that gets none. */
async function checkSplits(worlds: Handles): Promise<void> {
  const { size } = worlds[0]
  const colorOf = (rank: number) => (rank === size - 1 ? null : rank % 3)
  const colors = worlds.map(({ rank }) => colorOf(rank))
  const parts = await together(worlds, (world, i) => world.split(colors[i], -world.rank))
  for (let color = 0; color < 3; color++) {
    const members = parts.filter((part, i): part is Communicator => part !== null && colors[i] === color)
    if (members.length === 0) continue
    const here = worlds.filter(({ rank }) => colorOf(rank) === color).map(({ rank }) => rank)
    const sums = await together(members, (member, i) => member.allreduce(here[i], 'sum'))
    const ranks = Array.from({ length: size }, (_, rank) => rank).filter((rank) => colorOf(rank) === color)
    same(
      sums,
      here.map(() => ranks.reduce((a, b) => a + b, 0)),
      'the sum of the ranks of a color',
    )
    const places = here.map((rank) => ranks.length - 1 - ranks.indexOf(rank))
    same(
      members.map(({ rank }) => rank),
      places,
      'ranks of a split by descending keys',
    )
    await Promise.all(members.map((member) => member.free()))
  }
  same(
    parts.map((part) => part === null),
    colors.map((color) => color === null),
    'ranks without a color',
  )
}

/** The settings: all messages sent at once, and those of 300 elements offered. */
const settings = [{}, { eagerLimitBytes: 1000, creditBytes: 100 }]

export const hostedChecks: readonly HostedCase[] = [
  {
    name: 'hosted programs call and start collectives for all their ranks, others for each',
    settings,
    hosted: checkCollectives,
  },
  {
    name: 'hosted programs call and start neighborhood collectives for all their ranks, others for each',
    settings,
    hosted: checkNeighbors,
  },
  { name: 'hosted programs split for all their ranks', hosted: checkSplits },
]
