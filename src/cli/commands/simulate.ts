import type { Command } from 'commander'
import { shapeLimits } from '../../collective/patterns/check-shape.js'
import { longestBlockBytes } from '../../cost/simulate/block-lengths.js'
import { linkLoads, linksObject, linksSvg, loadsText } from '../../cost/simulate/link-loads.js'
import { simulate } from '../../cost/simulate/simulate.js'
import { simulationObject } from '../../cost/simulate/simulation.js'
import { timelineSvg, traceEvents } from '../../cost/simulate/timelines.js'
import { RankweaveError } from '../../errors.js'
import { formatMachine } from '../../machine/machine-text.js'
import { profileOf, profileOrigin, profileRemark } from '../../machine/network.js'
import { lower } from '../../schedule/lower/lower.js'
import { upTo } from '../../schedule/specification.js'
import { verify } from '../../schedule/verify/verify.js'
import { requireMachine } from '../input/machine-input.js'
import { addOptions, json, oneOf, option, readOptions, whole } from '../input/options.js'
import { mapOption, operationOption, strategyOptions } from '../input/plan-options.js'
import { serverOptions } from '../input/server-options.js'
import { machineHelp, mapHelp, specHelp } from '../input/spec-help.js'
import { exitCodes } from '../output/exit-codes.js'
import { checkOutputs, isStandardOutput, reportBeside, writeOutput } from '../output/output-file.js'
import { noteViolations } from '../output/proof-report.js'
import type { AddCommand, Reporter } from '../output/reporter.js'
import { counted } from '../output/result-rows.js'
import { mappingRow, simulationRows } from '../output/simulation-report.js'
import { recordedIn } from '../source/planned-topology.js'
import {
  blockPlacement,
  nodesOfRanks,
  refuseInapplicable,
  scheduleFromSource,
  shapeOptions,
} from '../source/schedule-source.js'

const help = `
SOURCE is what to simulate: a schedule file, as written by plan -o or schedule -o (- for standard input); an algorithm of a
collective with its settings, for which see rankweave schedule --help; or a topology, planned as by rankweave plan, with the same
options.
${machineHelp}
The machine needs a profile, which says what messages cost: cluster:nodes=16,cores=16,profile=simgrid-fast.
All times are predictions of a model; nothing is measured.
${specHelp}
${mapHelp}

Examples:
  rankweave simulate allgather-bruck --machine cluster:nodes=4,cores=16,profile=simgrid-fast --bytes 4096
  rankweave simulate moore:16x16:r=2 --k 4 --machine cluster:nodes=16,cores=16,profile=simgrid-slow --bytes 4
  rankweave simulate moore:16x16:r=2 --map auto --machine cluster:nodes=16,cores=16,profile=simgrid-fast --bytes 256
  rankweave simulate plan.jsonl --machine cluster:nodes=16,cores=16,profile=simgrid-fast --bytes 256 --json`

const optionTable = {
  bytes: option(
    '--bytes <number>',
    'bytes of every contribution: what count describes in the MPI call',
    whole(0, longestBlockBytes),
  ),
  processes: option(
    '--processes <number>',
    'processes that host the ranks, in blocks, process p on core p (default: one per rank)',
    whole(1, shapeLimits.ranks),
  ),
  progress: option(
    '--progress <name>',
    'when messages leave: dependencies or phases',
    oneOf('dependencies', 'phases'),
    'dependencies',
  ),
  svg: option('--svg <file>', 'write the timeline as a picture, at most 64 ranks (-: to standard output)'),
  linksSvg: option(
    '--links-svg <file>',
    'write how many bytes pass each link as a picture, at most 4,096 links (-: to standard output)',
  ),
  trace: option(
    '--trace <file>',
    'write the timeline as Chrome trace events, at most 1,024 ranks (.gz: compressed)',
  ),
  json,
  ...shapeOptions,
  ...strategyOptions(['auto']),
  ...operationOption,
  ...mapOption,
  ...serverOptions,
}

export const simulateCommand: AddCommand = (command, act) => {
  addOptions(command.argument('<source>', 'schedule file, algorithm or topology'), optionTable)
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, source: string, raw: unknown, command: Command) => {
        const options = readOptions(optionTable, raw)
        const { linksSvg: links, processes, progress, svg, trace } = options
        refuseInapplicable(command, source)
        await checkOutputs(report, svg, links, trace)
        const machine = requireMachine(options.machine)
        const bytes = options.bytes ?? recordedIn(source)?.blocks?.[1]
        if (bytes === undefined) throw new RankweaveError('ERR_USAGE', 'expected --bytes')
        profileOf(machine)
        const { schedule, mapping } = await scheduleFromSource(report, command, source, { ...options, bytes })
        report.step('verifying the schedule')
        const verification = verify(schedule)
        noteViolations(report, verification)
        if (!verification.ok) return exitCodes.checkFailed
        const { collective, ranks } = schedule.specification
        report.step('simulating')
        const placement = processes === undefined ? upTo(ranks) : blockPlacement(ranks, processes)
        const lowered = lower(schedule, placement)
        const simulation = simulate(lowered, machine, {
          bytes,
          progress,
          timeline: svg !== undefined || trace !== undefined,
        })
        const loads = links === undefined ? null : linkLoads(lowered, machine, bytes)
        const subject = `${collective} by ${schedule.strategy}, ${counted(ranks, 'rank', 'ranks')}`
        const where = `${counted(bytes, 'byte', 'bytes')} each on ${formatMachine(machine)}`
        if (svg !== undefined)
          await writeOutput(report, svg, timelineSvg(simulation, { title: `${subject}, ${where}` }))
        if (links !== undefined)
          await writeOutput(report, links, linksSvg(loads!, machine, { title: `${subject}, ${where}` }))
        if (trace !== undefined) {
          const ofRanks = nodesOfRanks(machine, ranks, processes)
          await writeOutput(report, trace, traceEvents(simulation, { nodeOf: ofRanks }))
        }
        for (const file of [svg, links, trace])
          if (file !== undefined && !isStandardOutput(file)) report.note(`wrote ${file}`)
        const files = [svg, links, trace].find(isStandardOutput)
        const first = [
          ['mapping', mapping === null ? null : mappingRow(mapping)],
          ['links of nodes', loads === null ? null : loadsText(loads.ofNodes, machine)],
          [
            'other links',
            (loads?.ofInterior.links ?? 0) === 0 ? null : loadsText(loads!.ofInterior, machine),
          ],
        ] as const
        reportBeside(
          report,
          files,
          {
            source,
            collective,
            strategy: schedule.strategy,
            parameters: schedule.parameters,
            ranks,
            processes: processes ?? ranks,
            machine: formatMachine(machine),
            ...(mapping === null ? {} : { mapping }),
            profile: profileOrigin(profileOf(machine)),
            remark: profileRemark(machine),
            bytesPerContribution: bytes,
            progress,
            ...simulationObject(simulation),
            ...(loads === null ? {} : { links: linksObject(loads, machine) }),
          },
          `${source}: ${subject}, ${where}\n${simulationRows(simulation, machine, first)}`,
        )
        return exitCodes.ok
      }),
    )
}
