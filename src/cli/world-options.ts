import { type Command, Option } from 'commander'
import type { z } from 'zod'
import { maxWorldRanks } from '../comm/world-layout.js'
import { RankweaveError } from '../errors.js'
import type { FabricFactory } from '../fabric/fabric.js'
import { local } from '../fabric/local.js'
import { threads } from '../fabric/threads.js'
import { ownModule } from '../own-files.js'
import { oneOf, whole } from './options.js'

/** The options that shape a world, for `run` and `spmm`. */
export function addWorldOptions(command: Command): Command {
  return command
    .requiredOption('-n, --ranks <number>', 'ranks in the world')
    .addOption(new Option('--processes <number>', 'processes that share the ranks').default('1'))
    .addOption(new Option('--nodes <number>', 'nodes that share the processes').default('1'))
    .addOption(
      new Option('--fabric <name>', 'what carries messages between processes: local or threads').default(
        'local',
      ),
    )
}

/** Logical processes are objects in this one: more of them than this say nothing new and cost memory. */
const maxProcesses = 4096

export const worldSchema = {
  ranks: whole(1, maxWorldRanks),
  processes: whole(1, maxProcesses),
  nodes: whole(1, maxProcesses),
  fabric: oneOf('local', 'threads'),
}

export type WorldOptions = z.infer<z.ZodObject<typeof worldSchema>>

/** The fabric of a world: processes are dealt to nodes in consecutive blocks. @throws ERR_WORLD */
export function fabricOf({ processes, nodes, fabric }: WorldOptions): FabricFactory {
  if (fabric === 'local') return local({ processes, nodes })
  if (nodes > processes) {
    throw new RankweaveError(
      'ERR_WORLD',
      `--nodes: expected at most ${processes}, one per process, got ${nodes}`,
    )
  }
  const label = (_: unknown, process: number) => `node${Math.floor((process * nodes) / processes)}`
  return threads({ processes, nodes: Array.from({ length: processes }, label) })
}

/** One of our own modules as a program that every thread can load. */
export function ownProgram(name: 'loaded-program' | 'spmm-program'): URL {
  return ownModule(`cli/program/${name}`)
}
