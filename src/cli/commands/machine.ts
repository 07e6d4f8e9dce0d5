import * as z from 'zod'
import { RankweaveError } from '../../errors.js'
import { formatMachine } from '../../machine/format-machine.js'
import type { Machine } from '../../machine/machine.js'
import { readMachine } from '../input/machine-input.js'
import { parseOptions } from '../input/options.js'
import { machineHelp } from '../input/spec-help.js'
import { machineObject, machineText, type RouteReport, routeReport } from '../output/machine-report.js'
import type { Reporter } from '../output/reporter.js'
import type { AddCommand } from './command.js'

const help = `${machineHelp}

Prints the machine as one line of text, its size, its links and what messages cost, with the source of every figure.
Exit code 2 where the description is malformed.

Examples:
  rankweave machine cluster:nodes=16,cores=16,profile=simgrid-fast
  rankweave machine torus:dims=8x8x8,profile=bluegene-p --route 0,511
  lstopo --of xml node.xml && rankweave machine node.xml,nodes=64
  srun -n 1 rankweave machine slurm --json
  rankweave machine hosts FILE`

const schema = z.object({ route: z.string().optional() })

export const machineCommand: AddCommand = (command, act) => {
  command
    .argument('<source>', 'one line of text, FILE.xml, slurm, hosts:FILE')
    .argument('[file]', "the host list after 'hosts'")
    .option('--route <ranks>', 'how far apart two ranks are, and the links between them, e.g. 0,17')
    .option('--json', 'one JSON object on standard output', false)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, source: string, file: string | undefined, raw: unknown) => {
        const { route: ranks } = parseOptions(schema, raw)
        if (file !== undefined && source !== 'hosts')
          throw new RankweaveError('ERR_USAGE', `expected one description of a machine, got also '${file}'`)
        const { machine, hosts } = readMachine(file === undefined ? source : `hosts:${file}`)
        const route = ranks === undefined ? null : routeOfRanks(ranks, machine)
        const text = formatMachine(machine)
        const object = {
          machine: text,
          ...machineObject(machine),
          hosts,
          ...(route === null ? {} : { route }),
        }
        report.result(object, `${text}\n${machineText(machine, hosts, route)}`)
      }),
    )
}

function routeOfRanks(text: string, machine: Machine): RouteReport {
  const last = machine.firstRank[machine.cores.length] - 1
  const match = /^(\d{1,9}),(\d{1,9})$/.exec(text)
  const [from, to] = [Number(match?.[1]), Number(match?.[2])]
  if (!(from <= last && to <= last)) {
    const message = `--route: expected two ranks from 0 to ${last} such as 0,${last}, got '${text}'`
    throw new RankweaveError('ERR_USAGE', message)
  }
  return routeReport(machine, from, to)
}
