import type { Command } from 'commander'
import * as z from 'zod'
import { checkWorldMachine } from '../../machine/check-machine.js'
import type { Machine } from '../../machine/machine.js'

/** Adds the option of every subcommand that runs or opens a world for the user's program. */
export function addWorldMachineOption(command: Command): Command {
  return command.option(
    '--machine <text>',
    'nodes and cores of the ranks, e.g. cluster:nodes=4,cores=16: rank r is on core r (default: the nodes of the processes)',
  )
}

export const worldMachineSchema = { machine: z.string().optional() }

/** Returns the machine of a world, read before it starts; undefined without one. @throws ERR_MACHINE, ERR_FILE */
export async function worldMachineOf({
  machine: text,
  ranks,
}: {
  readonly machine?: string | undefined
  readonly ranks: number
}): Promise<Machine | undefined> {
  if (text === undefined) return undefined
  // The import comes late: it loads readers of files that most worlds do not need.
  const { readMachine } = await import('./machine-input.js')
  const { machine } = readMachine(text)
  checkWorldMachine(machine, ranks)
  return machine
}
