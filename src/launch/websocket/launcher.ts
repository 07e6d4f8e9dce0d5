import { serialize } from 'node:v8'
import { givenOptions } from '../../base/option-table.js'
import { RankweaveError, reasonText } from '../../errors.js'
import { worldLayout } from '../../messages/process/world-layout.js'
import type { WebSocketFactory } from '../../websocket/factory-nodejs.js'
import type { Launcher } from '../processes/launcher.js'
import type { ChildData, WorldData } from '../processes/process-protocol.js'
import { programDigest } from '../processes/program-digest.js'
import { type FollowOptions, followWorld, requireModule } from '../processes/started-world.js'
import { dropOutputOfBrokenStreams } from '../processes/worker-output.js'
import { openRendezvous } from './rendezvous.js'
import { silenceLimits } from './settings.js'
import { startChildren } from './start.js'

/** Launches on processes of this host, each of which loads the program itself; the rendezvous is in this one. */
export const launchWebSocket: Launcher = async (factory, { program, hosted, world, signal, report }) =>
  runWebSocket(
    requireModule(program, factory.kind, 'processes'),
    factory as WebSocketFactory,
    { ...world, hosted },
    {
      ...givenOptions({ signal, report }),
    },
  )

/**
 * Runs a world whose processes are processes of the operating system.
 *
 * @returns the values that the ranks' mains returned, in rank order, serialized in between
 * @throws ERR_WORLD, ERR_CLONE, ERR_PROGRAM before a process is started
 */
export async function runWebSocket<T>(
  program: URL,
  factory: WebSocketFactory,
  { args, ...world }: WorldData,
  options: FollowOptions = {},
): Promise<T[]> {
  const { processes, nodes, silenceMs } = factory.options
  const layout = worldLayout(world.ranks, nodes, world.ranksPerProcess)
  const sent = serialized(args)
  const digest = await programDigest(program)
  const rendezvous = await openRendezvous({
    processes,
    program: digest,
    limits: silenceMs === undefined ? {} : silenceLimits(silenceMs),
  })
  const { url } = rendezvous
  const { token, ended } = rendezvous.world
  try {
    return await followWorld<T>(
      () => {
        const given = nodes.map(
          (node, process): ChildData => ({
            kind: 'rankweave child',
            program: program.href,
            ...{ process, url, token, node, world, args: sent },
          }),
        )
        const children = startChildren(program, factory, given)
        // A process that the rendezvous has given up, because it is silent, may still exist.
        void ended.then(({ lost }) => {
          for (const { process, reason } of lost) children[process].kill(reason)
        })
        return { processes: children, noun: 'process', release: dropOutputOfBrokenStreams(children) }
      },
      layout,
      options,
    )
  } finally {
    await rendezvous.close('the process that started the world has ended it')
  }
}

/** @throws ERR_CLONE */
function serialized(args: unknown): Uint8Array {
  try {
    return serialize(args)
  } catch (cause) {
    const message = `run: args cannot be cloned into processes: ${reasonText(cause)}`
    throw new RankweaveError('ERR_CLONE', message, { cause })
  }
}
