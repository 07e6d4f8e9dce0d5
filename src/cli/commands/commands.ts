import type { AddCommand } from '../output/reporter.js'

/** The groups of the help of all commands, in its order. */
export const commandGroups = [
  'Parallel TypeScript',
  'Plans and studies',
  'MPI programs',
  'Tuning',
  'The service',
  'Inspection',
] as const
type CommandGroup = (typeof commandGroups)[number]

/** A command in the help of all commands, with a function that loads the rest. */
export interface ListedCommand {
  readonly name: string
  /** The users for whom it is listed. */
  readonly group: CommandGroup
  /** The options and arguments after its name. */
  readonly usage: string
  readonly description: string
  /** Loads the command and the parts of the library that it needs. */
  readonly load: () => Promise<AddCommand>
}

/** The commands in the order of help, group by group. */
export const commands: readonly ListedCommand[] = [
  {
    name: 'run',
    group: 'Parallel TypeScript',
    usage: '[options] <program> [args...]',
    description: 'Run a program on a world of ranks.',
    load: async () => (await import('./run.js')).runCommand,
  },
  {
    name: 'host',
    group: 'Parallel TypeScript',
    usage: '[options]',
    description: 'Open a world for processes that join it, from this host or others.',
    load: async () => (await import('./host.js')).hostCommand,
  },
  {
    name: 'join',
    group: 'Parallel TypeScript',
    usage: '[options] <url> <program> [args...]',
    description: 'Join a world that rankweave host has opened, and run a program there.',
    load: async () => (await import('./join.js')).joinCommand,
  },
  {
    name: 'spmm',
    group: 'Parallel TypeScript',
    usage: '[options] [A.mtx] [B.mtx]',
    description:
      'Multiply a sparse matrix by a dense one, with neighbor allgathers planned from its sparsity pattern.',
    load: async () => (await import('./spmm.js')).spmmCommand,
  },
  {
    name: 'split',
    group: 'Parallel TypeScript',
    usage: '[options]',
    description: 'Split a world of ranks, check the result and report the cost.',
    load: async () => (await import('./split.js')).splitCommand,
  },
  {
    name: 'topology',
    group: 'Plans and studies',
    usage: '[options] <spec>',
    description: 'Describe a process topology: size, degrees, symmetry, friends, the best k; or convert it.',
    load: async () => (await import('./topology.js')).topologyCommand,
  },
  {
    name: 'plan',
    group: 'Plans and studies',
    usage: '[options] <spec>',
    description: 'Plan a neighborhood collective over a topology, verify the plan and count its messages.',
    load: async () => (await import('./plan.js')).planCommand,
  },
  {
    name: 'schedule',
    group: 'Plans and studies',
    usage: '[options] [algorithm]',
    description: 'Write the schedule of an algorithm of a collective, verify it and count its messages.',
    load: async () => (await import('./schedule.js')).scheduleCommand,
  },
  {
    name: 'verify',
    group: 'Plans and studies',
    usage: '[options] <file>',
    description: 'Verify a schedule file of any collective, or list its first violations.',
    load: async () => (await import('./verify.js')).verifyCommand,
  },
  {
    name: 'simulate',
    group: 'Plans and studies',
    usage: '[options] <source>',
    description: 'Predict what a schedule costs on a machine.',
    load: async () => (await import('./simulate.js')).simulateCommand,
  },
  {
    name: 'study',
    group: 'Plans and studies',
    usage: '[options] <spec>',
    description: 'Compare the strategies of a topology on a machine, by block length, in tables and plots.',
    load: async () => (await import('./study.js')).studyCommand,
  },
  {
    name: 'report',
    group: 'Plans and studies',
    usage: '[options] <source>',
    description: 'Show a topology, its plan and their simulation in pictures, as one HTML file.',
    load: async () => (await import('./report.js')).reportCommand,
  },
  {
    name: 'models',
    group: 'Plans and studies',
    usage: '[options] [collective]',
    description:
      'List the algorithms of a collective by the time that formulas predict, or compare predicted with measured times.',
    load: async () => (await import('./models.js')).modelsCommand,
  },
  {
    name: 'shim',
    group: 'MPI programs',
    usage: '[options]',
    description: 'Write and compile a library to be preloaded into MPI programs, which runs plans in them.',
    load: async () => (await import('./shim.js')).shimCommand,
  },
  {
    name: 'advise',
    group: 'MPI programs',
    usage: '[options] <command...>',
    description: 'Find out by runs of an MPI program what would make it faster, and what to type.',
    load: async () => (await import('./advise.js')).adviseCommand,
  },
  {
    name: 'record',
    group: 'MPI programs',
    usage: '[options] [command...]',
    description:
      'Run an MPI program and write who sends to whom, or the graphs of its neighborhood collectives.',
    load: async () => (await import('./record.js')).recordCommand,
  },
  {
    name: 'match',
    group: 'MPI programs',
    usage: '[options] <trace...>',
    description:
      'Replay recorded message matching with other designs of its queues: what a program would gain.',
    load: async () => (await import('./match.js')).matchCommand,
  },
  {
    name: 'map',
    group: 'MPI programs',
    usage: '[options] <spec...>',
    description: 'Say which rank should be on which node of a machine, as a file that places a job.',
    load: async () => (await import('./map.js')).mapCommand,
  },
  {
    name: 'export',
    group: 'MPI programs',
    usage: '[options] <source>',
    description: 'Write a schedule as a C program for MPI, or as GOAL text for LogGOPSim.',
    load: async () => (await import('./export.js')).exportCommand,
  },
  {
    name: 'calibrate',
    group: 'Tuning',
    usage: '[options]',
    description: 'Measure what messages and memory cost on a fabric, as a profile of a machine.',
    load: async () => (await import('./calibrate.js')).calibrateCommand,
  },
  {
    name: 'measure',
    group: 'Tuning',
    usage: '[options] [collectives...]',
    description:
      "Measure algorithms of collectives, the library's or an MPI library's, into a file, or give an overview.",
    load: async () => (await import('./measure.js')).measureCommand,
  },
  {
    name: 'tune',
    group: 'Tuning',
    usage: '[options] [data...]',
    description: 'Learn from measured times which algorithms collectives use, as a tuning file.',
    load: async () => (await import('./tune.js')).tuneCommand,
  },
  {
    name: 'learn',
    group: 'Tuning',
    usage: '[options] <folder>',
    description:
      'Learn from the calls that runs recorded which algorithms collectives use, as a tuning file.',
    load: async () => (await import('./learn.js')).learnCommand,
  },
  {
    name: 'serve',
    group: 'The service',
    usage: '[options]',
    description: 'Serve plans and communicators by HTTP and WebSocket, and a page that shows them.',
    load: async () => (await import('./serve.js')).serveCommand,
  },
  {
    name: 'machine',
    group: 'Inspection',
    usage: '[options] <source> [file]',
    description: 'Describe a machine: nodes, packages, cores, links, routes, and what messages cost.',
    load: async () => (await import('./machine.js')).machineCommand,
  },
  {
    name: 'mpi-info',
    group: 'Inspection',
    usage: '[options]',
    description:
      'Report the MPI of a job: library, version, interface, processes, nodes; outside a job, the MPI libraries found.',
    load: async () => (await import('./mpi-info.js')).mpiInfoCommand,
  },
]
