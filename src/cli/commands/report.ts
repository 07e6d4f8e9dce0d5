import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { understand } from '../../client/protocol/plan-words.js'
import { longestBlockBytes } from '../../cost/simulate/block-lengths.js'
import { RankweaveError } from '../../errors.js'
import { autoHelp, parseAuto } from '../../neighborhood/choose/auto.js'
import { requestedPlan } from '../../neighborhood/choose/plan-request.js'
import type { Plan } from '../../neighborhood/plan/plan.js'
import { ownVersion, pageFile } from '../../package-paths.js'
import { mostAsked, type PlanView, planView } from '../../report/plan-view.js'
import { reportHtml } from '../../report/report-html.js'
import { topologyView } from '../../report/topology-view.js'
import { readScheduleFile } from '../../schedule/file/schedule-file.js'
import { isNeighborSchedule } from '../../schedule/ir.js'
import { verify } from '../../schedule/verify/verify.js'
import { fileError } from '../../text/whole-file.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { openInput } from '../input/open-input.js'
import {
  addOptions,
  json,
  type OptionValues,
  option,
  readOptions,
  refuseGiven,
  whole,
  wholeList,
} from '../input/options.js'
import { spelledBy, strategyOptionNames, strategyOptions } from '../input/plan-options.js'
import { serverOf, serverOptions } from '../input/server-options.js'
import { machineHelp, specHelp } from '../input/spec-help.js'
import { exitCodes } from '../output/exit-codes.js'
import { checkOutputs, isStandardOutput, reportBeside, writeOutput } from '../output/output-file.js'
import { noteViolations } from '../output/proof-report.js'
import type { AddCommand } from '../output/reporter.js'
import { groupProgress, type Reporter } from '../output/reporter.js'
import { counted } from '../output/result-rows.js'
import { builtTopology, type ServedPlan, servedPlan } from '../source/planned-topology.js'
import { isTopology } from '../source/schedule-source.js'

const help = `
SOURCE is a topology, which is planned as by rankweave plan with the same options, or a schedule file written by plan -o.
${specHelp}
${machineHelp}
With a profile the plan and direct sends are simulated: timelines, who waits for whom, speedup and break-even by block length.
${autoHelp}

The report is one HTML file that loads nothing: the topology as a graph, the traffic matrix of direct sends and of the plan,
messages per rank, the program of the ranks in the timeline. Its size is bounded: at most about 5 MB.

Examples:
  rankweave report moore:16x16:r=2 -o report.html
  rankweave report moore:16x16:r=2 --k 4 --machine cluster:nodes=16,cores=16,profile=simgrid-fast --bytes 64 -o report.html
  rankweave report plan.jsonl --machine cluster:nodes=16,cores=16,profile=simgrid-fast --ranks 0,17 -o report.html`

const optionTable = {
  ...strategyOptions(['auto']),
  ...serverOptions,
  bytes: option(
    '--bytes <number>',
    'bytes of every block, where the machine has a profile',
    whole(0, longestBlockBytes),
    '1024',
  ),
  ranks: option(
    '--ranks <list>',
    `ranks to show in detail, separated by commas, at most ${mostAsked}`,
    wholeList(0, 2 ** 31 - 1),
  ),
  output: option('-o, --output <file>', 'the file to write (-: to standard output)'),
  json,
}

export const reportCommand: AddCommand = (command, act) => {
  addOptions(
    command.argument('<source>', 'a topology, e.g. moore:64x64:r=4, or a schedule file'),
    optionTable,
  )
    .addHelpText('after', help)
    .action(
      act(async (report: Reporter, source: string, raw: unknown, command: Command) => {
        const options = readOptions(optionTable, raw)
        const { output, bytes, ranks = [] } = options
        if (output === undefined) throw new RankweaveError('ERR_USAGE', 'expected -o and the file to write')
        await checkOutputs(report, output)
        const template = templateText()
        const machine = options.machine ?? null
        const { topology, planned, choiceMs, isMeasured, served } = isTopology(source)
          ? await planOfTopology(report, command, source, options)
          : await planOfFile(report, command, source)
        report.step('verifying the plan')
        const verification = verify(planned.schedule)
        noteViolations(report, verification)
        if (!verification.ok) return exitCodes.checkFailed
        report.step('drawing')
        const name = source.split('/').at(-1)!
        const drawn = planView(topology, planned, machine, { name, bytes, ranks, choiceMs, isMeasured })
        const view = served === null ? drawn : await withGroups(drawn, served)
        const html = reportHtml(template, {
          topology: topologyView(topology, { name, adjacency: true }),
          plan: view,
          madeBy: `rankweave ${ownVersion()}`,
        })
        await writeOutput(report, output, [html])
        if (!isStandardOutput(output)) report.note(`wrote ${output}`)
        if (view.simulation === null) report.note('not simulated: expected --machine with a profile')
        const { statistics, simulation } = view
        reportBeside(
          report,
          output,
          {
            source,
            ...statistics.planned,
            simulated:
              simulation === null ? null : { timeUs: simulation.planned.timeUs, speedup: simulation.speedup },
            bytes: html.length,
            file: output,
          },
          `${source}: ${view.collective} by ${view.strategy}, ${counted(topology.ranks, 'rank', 'ranks')}`,
        )
        return exitCodes.ok
      }),
    )
}

interface Planned {
  readonly topology: ProcessTopology
  readonly planned: Plan
  readonly choiceMs: number
  readonly isMeasured: boolean
  /** The plan of a service; null for others. */
  readonly served: ServedPlan | null
}

/** Adds the friend groups, which a schedule alone does not hold. */
async function withGroups(view: PlanView, served: ServedPlan): Promise<PlanView> {
  const { k, theta, groups, steps } = served.report
  const planned = { ...view.statistics.planned, k, theta, groups, steps }
  return { ...view, groups: await served.groups(), statistics: { ...view.statistics, planned } }
}

async function planOfTopology(
  report: Reporter,
  command: Command,
  spec: string,
  options: OptionValues<typeof optionTable>,
): Promise<Planned> {
  const { machine, strategy, bytes } = options
  const auto = parseAuto(strategy)
  // The length that is simulated has a default; a strategy may be chosen for another one.
  const words = { ...options, bytes: auto === null || auto.bytes !== undefined ? undefined : bytes }
  const request = understand(words, spelledBy(command))
  const server = serverOf(options)
  if (server !== null) {
    const served = await servedPlan(report, server, spec, words)
    report.step('reading the plan')
    const schedule = await served.schedule()
    const planned = { schedule, groups: null, planMs: served.report.planMs }
    return {
      ...{ topology: schedule.topology, planned, isMeasured: true, served },
      choiceMs: served.report.choiceMs ?? 0,
    }
  }
  const topology = builtTopology(report, spec)
  const hooks = { onStep: report.step, onProgress: groupProgress(report) }
  const { plan, choiceMs } = await requestedPlan(topology, request, machine ?? null, hooks)
  return { topology, planned: plan, choiceMs, isMeasured: true, served: null }
}

/** @throws ERR_USAGE for a schedule without a topology, and for options that plan one */
async function planOfFile(report: Reporter, command: Command, file: string): Promise<Planned> {
  refuseGiven(command, [...strategyOptionNames, 'server'], 'is for topologies, not for schedule files')
  report.step(`reading ${file}`)
  const schedule = await readScheduleFile(file, { open: openInput })
  if (!isNeighborSchedule(schedule)) {
    const message = `${file}: expected a neighborhood collective, got ${schedule.specification.collective}`
    throw new RankweaveError('ERR_USAGE', message)
  }
  return {
    topology: schedule.topology,
    planned: { schedule, groups: null, planMs: 0 },
    choiceMs: 0,
    isMeasured: false,
    served: null,
  }
}

/** @throws ERR_FILE if the page has not been built */
function templateText(): string {
  const file = pageFile('report.html')
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw fileError('read', file.pathname, cause)
  }
}
