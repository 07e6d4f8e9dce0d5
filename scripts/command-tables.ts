// docs/commands.md: the commands of `rankweave --help`, each with a page that shows it.
import { commandGroups, commands } from '../src/cli/commands/commands.js'
import { type MarkedTable, tableOf } from './marked-tables.js'

/** Pages of docs/ by the commands that they show. */
export const pagesOfCommands: Readonly<Record<string, string>> = {
  run: 'running',
  host: 'websocket',
  join: 'websocket',
  spmm: 'sparse-products',
  split: 'splits-at-scale',
  topology: 'topologies',
  plan: 'strategies',
  schedule: 'schedules',
  verify: 'schedule-format',
  simulate: 'simulation',
  study: 'strategies',
  report: 'service',
  models: 'cost-models',
  advise: 'does-it-pay',
  shim: 'speed-up-your-mpi-program',
  record: 'speed-up-your-mpi-program',
  match: 'message-matching',
  map: 'placement',
  export: 'exporting-plans',
  calibrate: 'cost-models',
  measure: 'tuning',
  tune: 'tuning',
  learn: 'tuning',
  serve: 'service',
  machine: 'machines',
  'mpi-info': 'mpi',
  bench: 'running',
}

/** One table per group, in the order of help. */
export const commandTables: readonly MarkedTable[] = commandGroups.map((group) => ({
  page: 'commands.md',
  mark: `commands: ${group}`,
  table: tableOf(
    ['command', 'what it does'],
    commands
      .filter((command) => command.group === group)
      .map(({ name, description }) => [`[${name}](${pagesOfCommands[name]}.md)`, description]),
  ),
}))
