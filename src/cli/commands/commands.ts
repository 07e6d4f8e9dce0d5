import type { AddCommand } from './command.js'

/** The groups of the help of all commands, in its order. */
export const commandGroups = [
  'Parallel TypeScript',
  'Plans and studies',
  'MPI programs',
  'Tuning',
  'The service',
  'Inspection',
] as const
export type CommandGroup = (typeof commandGroups)[number]

/** A command in the help of all commands, with a function that loads the rest. */
export interface ListedCommand {
  readonly name: string
  /** Who uses it. */
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
    description: 'Open a world that processes on this host or on others can join.',
    load: async () => (await import('./host.js')).hostCommand,
  },
  {
    name: 'join',
    group: 'Parallel TypeScript',
    usage: '[options] <url> <program> [args...]',
    description: 'Join a world opened by rankweave host, and run a program in it.',
    load: async () => (await import('./join.js')).joinCommand,
  },
  {
    name: 'spmm',
    group: 'Parallel TypeScript',
    usage: '[options] [A.mtx] [B.mtx]',
    description:
      'Multiply a sparse by a dense matrix, with neighbor allgathers planned from the sparsity pattern.',
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
    description: 'Describe a process topology (size, degrees, symmetry, friend groups), or convert it.',
    load: async () => (await import('./topology.js')).topologyCommand,
  },
  {
    name: 'plan',
    group: 'Plans and studies',
    usage: '[options] <spec>',
    description: 'Plan a neighbor allgather over a topology, verify the plan and count its messages.',
    load: async () => (await import('./plan.js')).planCommand,
  },
  {
    name: 'schedule',
    group: 'Plans and studies',
    usage: '[options] [algorithm]',
    description: 'Generate the schedule of a collective algorithm, verify it and count its messages.',
    load: async () => (await import('./schedule.js')).scheduleCommand,
  },
  {
    name: 'verify',
    group: 'Plans and studies',
    usage: '[options] <file>',
    description: 'Verify a schedule file of any collective, and list its first violations.',
    load: async () => (await import('./verify.js')).verifyCommand,
  },
  {
    name: 'simulate',
    group: 'Plans and studies',
    usage: '[options] <source>',
    description: 'Predict the time and the traffic of a schedule on a machine.',
    load: async () => (await import('./simulate.js')).simulateCommand,
  },
  {
    name: 'study',
    group: 'Plans and studies',
    usage: '[options] <spec>',
    description: 'Compare the strategies for a topology on a machine, by block length, in tables and plots.',
    load: async () => (await import('./study.js')).studyCommand,
  },
  {
    name: 'report',
    group: 'Plans and studies',
    usage: '[options] <source>',
    description: 'Draw a topology, its plan and its simulation as one HTML file.',
    load: async () => (await import('./report.js')).reportCommand,
  },
  {
    name: 'models',
    group: 'Plans and studies',
    usage: '[options] [collective]',
    description:
      'Rank the algorithms of a collective by predicted time, or compare predicted with measured times.',
    load: async () => (await import('./models.js')).modelsCommand,
  },
  {
    name: 'shim',
    group: 'MPI programs',
    usage: '[options]',
    description: 'Compile a library that runs plans and tuned collectives in MPI programs that preload it.',
    load: async () => (await import('./shim.js')).shimCommand,
  },
  {
    name: 'record',
    group: 'MPI programs',
    usage: '[options] [command...]',
    description: 'Run an MPI program and record the graphs on which it calls neighborhood collectives.',
    load: async () => (await import('./record.js')).recordCommand,
  },
  {
    name: 'match',
    group: 'MPI programs',
    usage: '[options] <trace...>',
    description:
      'Replay recorded message matching with other queue designs, and report what a program would gain.',
    load: async () => (await import('./match.js')).matchCommand,
  },
  {
    name: 'map',
    group: 'MPI programs',
    usage: '[options] <spec...>',
    description: 'Choose a node for every rank, and write a file that places the ranks of a job.',
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
    description: 'Measure message and memory costs on a fabric, and write them as a machine profile.',
    load: async () => (await import('./calibrate.js')).calibrateCommand,
  },
  {
    name: 'measure',
    group: 'Tuning',
    usage: '[options] [collectives...]',
    description: 'Measure collective algorithms, of Rankweave or of an MPI library, into a file.',
    load: async () => (await import('./measure.js')).measureCommand,
  },
  {
    name: 'tune',
    group: 'Tuning',
    usage: '[options] <data...>',
    description: 'Learn from measured times which algorithm each call should use, and write a tuning file.',
    load: async () => (await import('./tune.js')).tuneCommand,
  },
  {
    name: 'learn',
    group: 'Tuning',
    usage: '[options] <folder>',
    description: 'Learn from recorded calls which algorithm each call should use, and write a tuning file.',
    load: async () => (await import('./learn.js')).learnCommand,
  },
  {
    name: 'serve',
    group: 'The service',
    usage: '[options]',
    description: 'Serve plans and communicators over HTTP and WebSocket, with a web page that shows them.',
    load: async () => (await import('./serve.js')).serveCommand,
  },
  {
    name: 'machine',
    group: 'Inspection',
    usage: '[options] <source> [file]',
    description: 'Describe a machine: nodes, packages, cores, links, routes and message costs.',
    load: async () => (await import('./machine.js')).machineCommand,
  },
  {
    name: 'mpi-info',
    group: 'Inspection',
    usage: '[options]',
    description:
      'Report the MPI library, the processes and the nodes of a job, or the MPI libraries of this machine.',
    load: async () => (await import('./mpi-info.js')).mpiInfoCommand,
  },
  {
    name: 'bench',
    group: 'Inspection',
    usage: '[options]',
    description: 'Measure ping-pong, allreduce and neighbor allgather on a fabric.',
    load: async () => (await import('./bench.js')).benchCommand,
  },
]
