// The floor plan of src/: its rooms from the bottom up, and what each may import. `npm run rooms` writes the
// rules for the linter, biome.rooms.json; test/rooms.test.ts shows that they reject what they should.
import { writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'

/** A folder of `src/`, or a file directly in it. */
export interface Room {
  readonly path: string
  /**
   * Rooms above this one in the table whose files it may import; a room does not stand for the rooms in its
   * folder.
   */
  readonly imports: readonly string[]
  /** Packages it may import. */
  readonly packages?: readonly string[]
  /** Why it holds more than 15 files. */
  readonly many?: string
}

const topologies = [
  'topology',
  'topology/generate',
  'topology/translations',
  'topology/matrix',
  'topology/friends',
  'topology/files',
]
const machines = ['machine/interior', 'machine', 'machine/profiles', 'machine/text', 'machine/hosts']
const schedules = ['schedule', 'schedule/file', 'schedule/terms', 'schedule/verify', 'schedule/lower']
const simulation = ['simulate/engine', 'simulate', 'simulate/pictures']
const collectives = ['collective/shape', 'collective']
const fabrics = [
  'fabric',
  'fabric/local',
  'fabric/threads',
  'fabric/mpi',
  'rendezvous/protocol',
  'rendezvous',
  'fabric/websocket',
]
const ownProcess = [
  ...['comm/datatype', 'comm/process/memory', 'comm/process/waits', 'comm/process'],
  ...['comm/transfer', 'comm/table'],
]
const messages = ['matching', 'comm/p2p/message', 'comm/p2p']
const calls = [
  ...[
    'comm/calls/exchange',
    'comm/calls',
    'comm/calls/collectives/blocks',
    'comm/calls/collectives/plan',
    'comm/calls/collectives/persistent',
  ],
  'comm/calls/collectives',
]

const launching = ['launch/processes', 'launch/websocket', 'launch']

const execution = [
  'neighborhood/execute/memory',
  'neighborhood/execute',
  'neighborhood/execute/tune',
  'neighborhood/execute/allgather',
  'neighborhood/execute/alltoall',
  'neighborhood/execute/reduce',
]

/** All rooms: each may import only rooms that stand before it here. */
export const rooms: readonly Room[] = [
  { path: 'errors.ts', imports: [] },
  { path: 'package-paths.ts', imports: [] },
  room('base/platform', []),
  room('base', ['base/platform']),
  room('text', [], { packages: ['pako'] }),

  room('topology', ['base/platform']),
  room('topology/generate', ['topology']),
  room('topology/translations', ['topology', 'topology/generate']),
  room('topology/matrix', ['text', 'topology']),
  room('topology/friends', ['topology']),
  room('topology/files', ['text', 'topology', 'topology/friends'], {
    packages: ['graphology', 'graphology-types', 'zod'],
  }),
  room('topology/grouping/distributed', ['topology', 'topology/friends']),
  room('topology/grouping', ['topology', 'topology/friends', 'topology/grouping/distributed'], {
    packages: ['highs'],
  }),
  room(
    'topology/spec',
    ['text', 'topology', 'topology/generate', 'topology/translations', 'topology/matrix', 'topology/files'],
    {
      packages: ['zod'],
    },
  ),
  room('machine/interior', []),
  room('machine', ['topology', 'machine/interior']),
  room('machine/profiles', ['machine']),
  room('machine/text', ['topology', 'machine/interior', 'machine', 'machine/profiles']),
  room('machine/hosts', ['machine']),

  room('schedule', ['topology']),
  room('schedule/file', ['text', 'topology', 'schedule']),
  room('schedule/terms', ['schedule']),
  room('schedule/verify', ['topology', 'schedule', 'schedule/terms']),
  room('schedule/lower', ['topology', 'schedule']),
  room('collective/shape', ['schedule']),
  room('collective/patterns', ['schedule', 'collective/shape']),
  room('collective', ['schedule', 'collective/shape', 'collective/patterns'], {
    many: 'one algorithm per file, named by its id',
  }),
  room('models/formulas', ['schedule']),
  room('models', ['machine', 'schedule', 'models/formulas']),
  room('models/congestion', ['schedule', 'models']),
  room('simulate/engine', ['machine', 'schedule', 'schedule/lower']),
  room('simulate', [
    ...['machine', 'schedule', 'schedule/lower', 'simulate/engine', 'collective', 'collective/shape'],
  ]),
  room('simulate/pictures', ['text', 'simulate']),
  room(
    'neighborhood/route',
    [
      'topology/generate',
      'topology/translations',
      'topology',
      'topology/friends',
      'topology/grouping',
      'machine',
      'schedule',
    ],
    {
      many: 'one route per file, and what they are made of',
    },
  ),
  room('neighborhood/friends', [
    ...['topology', 'topology/friends', 'topology/grouping', 'machine', 'schedule', 'neighborhood/route'],
  ]),
  room('neighborhood/plan', [
    'base/platform',
    ...['neighborhood/route', 'neighborhood/friends'],
    ...['topology', 'topology/friends', 'topology/grouping', 'machine'],
    ...['schedule', 'schedule/verify', 'schedule/lower'],
  ]),

  room('neighborhood/candidates', ['base/platform', 'topology', 'neighborhood/route', 'neighborhood/plan']),
  room('neighborhood/predict', ['topology', 'simulate', 'neighborhood/route']),
  room('neighborhood/choose', [
    ...['topology', 'machine', 'schedule', 'simulate/engine', 'simulate'],
    ...['neighborhood/route', 'neighborhood/plan', 'neighborhood/candidates', 'neighborhood/predict'],
  ]),
  room('neighborhood/request', [
    ...['topology', 'topology/friends', 'topology/grouping', 'machine', 'machine/text'],
    ...['schedule/verify', 'simulate', 'neighborhood/plan', 'neighborhood/choose'],
  ]),

  room('study/document', ['text']),
  room('study', [
    ...['topology', 'machine', 'machine/text', 'schedule', 'schedule/lower', 'simulate/engine', 'simulate'],
    ...['neighborhood/plan', 'neighborhood/candidates', 'neighborhood/choose', 'study/document'],
  ]),
  room('export', ['topology', 'schedule', 'schedule/lower', 'simulate/engine', 'package-paths.ts']),
  room('study/paper', [
    ...['topology/generate', 'topology/matrix', 'topology/friends', 'topology', 'machine', 'machine/text'],
    ...['simulate', 'neighborhood/plan', 'study/document', 'study'],
  ]),
  room(
    'report',
    [
      ...['topology', 'topology/friends', 'topology/translations', 'machine', 'machine/text'],
      ...['schedule', 'schedule/lower', 'simulate', 'neighborhood/plan', 'neighborhood/choose'],
    ],
    { packages: ['graphology', 'graphology-types', 'graphology-communities-louvain'] },
  ),
  room('shim', ['text', 'schedule', 'schedule/lower', 'export', 'package-paths.ts']),

  room('fabric', ['base/platform']),
  room('fabric/local', ['fabric']),
  room('fabric/threads', ['fabric']),
  room('fabric/mpi', ['fabric'], {
    packages: ['koffi'],
    many: 'what a process needs of an MPI job, one file each',
  }),
  room('fabric/conformance', ['fabric']),
  room('rendezvous/protocol', ['text'], { packages: ['zod'] }),
  room('rendezvous/watch', []),
  room('rendezvous', ['fabric', 'rendezvous/protocol', 'rendezvous/watch', 'package-paths.ts'], {
    packages: ['ws'],
  }),
  room('fabric/websocket', ['fabric', 'rendezvous/protocol', 'rendezvous', 'base/platform'], {
    packages: ['zod'],
  }),

  room('matching', []),
  room('comm/datatype', []),
  room('comm/process/memory', ['fabric']),
  room('comm/process/waits', ['base/platform']),
  room('comm/process', ['base/platform', 'fabric', 'comm/process/memory', 'comm/process/waits']),
  room('comm/transfer', ['comm/process/memory', 'comm/process']),
  room('comm/table', ['matching', 'comm/datatype', 'comm/process', 'comm/transfer']),
  // comm/p2p and comm/calls never import each other.
  room('comm/p2p/message', ['matching', ...ownProcess]),
  room('comm/p2p', ['fabric', 'matching', ...ownProcess, 'comm/p2p/message']),
  room('comm/calls/exchange', [...ownProcess, 'collective']),
  room('comm/calls', [...ownProcess, 'collective', 'comm/calls/exchange']),
  room('comm/calls/program', [...ownProcess, 'comm/calls/exchange', 'comm/calls', 'schedule/lower']),
  room('comm/calls/collectives/reduce', ownProcess),
  room('comm/calls/collectives/blocks', [...ownProcess, 'comm/calls']),
  room('comm/calls/collectives/plan', [
    ...[
      ...ownProcess,
      'comm/calls/exchange',
      'comm/calls',
      'comm/calls/program',
      'comm/calls/collectives/reduce',
    ],
    ...['schedule', 'schedule/lower', ...collectives, 'collective/patterns'],
  ]),
  room('comm/calls/collectives/reductions', [
    ...[
      ...ownProcess,
      'comm/calls/exchange',
      'comm/calls',
      'comm/calls/collectives/reduce',
      'comm/calls/collectives/blocks',
    ],
    ...['comm/calls/collectives/plan', 'schedule', ...collectives],
  ]),
  room('comm/calls/collectives/moves', [
    ...[
      ...ownProcess,
      'comm/calls/exchange',
      'comm/calls',
      'comm/calls/program',
      'comm/calls/collectives/blocks',
    ],
    ...['comm/calls/collectives/plan', 'schedule', 'schedule/lower'],
  ]),
  room('comm/calls/collectives/persistent', [
    ...[
      ...ownProcess,
      'comm/calls/exchange',
      'comm/calls',
      'comm/calls/program',
      'comm/calls/collectives/blocks',
    ],
    ...['comm/calls/collectives/plan', 'comm/calls/collectives/reductions', 'schedule', 'collective'],
  ]),
  room('comm/calls/collectives', [
    ...[
      ...ownProcess,
      'comm/calls/exchange',
      'comm/calls',
      'comm/calls/collectives/reduce',
      'comm/calls/collectives/blocks',
    ],
    ...['comm/calls/collectives/plan', 'comm/calls/collectives/reductions', 'comm/calls/program'],
    ...['comm/calls/collectives/moves', 'comm/calls/collectives/persistent', 'schedule', ...collectives],
  ]),
  room('comm/survive', ['fabric', 'comm/process', 'comm/table', 'comm/calls']),
  room('comm/context/split/rows', []),
  room('comm/context/split/plan', [
    'comm/process/waits',
    'comm/process',
    'comm/table',
    'comm/calls/exchange',
  ]),
  room('comm/context/split/exchange', [
    ...['comm/process', 'comm/table', 'comm/calls/exchange'],
    ...['comm/context/split/rows', 'comm/context/split/plan'],
  ]),
  room('comm/context/split/outcome', [
    ...['comm/process', 'comm/table', 'comm/calls/exchange'],
    ...['comm/context/split/rows', 'comm/context/split/plan', 'comm/context/split/exchange'],
  ]),
  room('comm/context/split', [
    ...['comm/process', 'comm/table', 'comm/calls/exchange'],
    ...['comm/context/split/rows', 'comm/context/split/plan', 'comm/context/split/exchange'],
    'comm/context/split/outcome',
  ]),
  room('comm/context', [
    ...[...messages, ...ownProcess, ...calls, 'comm/calls/collectives/reduce', 'comm/survive'],
    ...['comm/context/split/plan', 'comm/context/split'],
  ]),
  room('comm', [
    ...messages,
    ...ownProcess,
    ...calls,
    'comm/calls/program',
    'comm/survive',
    'comm/context/split/plan',
    'comm/context',
  ]),
  room('comm/world', [
    ...['base/platform', 'fabric', ...messages, ...ownProcess, ...calls, 'comm/context', 'comm'],
  ]),

  room('neighborhood/distributed', [
    ...['topology', 'topology/friends', 'topology/grouping/distributed', 'schedule', 'schedule/verify'],
    ...['neighborhood/route', 'neighborhood/friends', 'neighborhood/plan'],
    ...['comm/process', 'comm/calls/exchange', 'comm/context'],
  ]),
  room('neighborhood/execute/memory', [
    ...['schedule/lower', 'comm/datatype', 'comm/calls/exchange', 'comm/calls/program'],
  ]),
  room('neighborhood/execute', [
    ...['topology', 'machine', 'schedule', 'schedule/lower'],
    ...[
      'neighborhood/route',
      'neighborhood/candidates',
      'neighborhood/choose',
      'neighborhood/plan',
      'neighborhood/execute/memory',
    ],
    ...[
      'comm/datatype',
      'comm/process/waits',
      'comm/process',
      ...calls,
      'comm/calls/program',
      'comm/context',
    ],
  ]),
  room('neighborhood/execute/tune', [
    ...[
      'schedule/lower',
      'neighborhood/candidates',
      'neighborhood/choose',
      'neighborhood/plan',
      'neighborhood/execute',
    ],
    ...['comm/datatype', 'comm/calls/exchange', 'comm/calls/program', 'comm/context'],
  ]),
  room('neighborhood/execute/allgather', [
    ...['schedule/lower', 'neighborhood/execute/memory', 'neighborhood/execute', 'neighborhood/execute/tune'],
    ...['comm/datatype', ...calls, 'comm/calls/program', 'comm/context'],
  ]),
  room('neighborhood/execute/alltoall', [
    ...['schedule/lower', 'neighborhood/execute/memory', 'neighborhood/execute', 'neighborhood/execute/tune'],
    ...[
      'comm/datatype',
      'comm/process/waits',
      'comm/process',
      ...calls,
      'comm/calls/program',
      'comm/context',
    ],
  ]),
  room('neighborhood/execute/reduce', [
    ...['schedule/lower', 'neighborhood/execute/memory', 'neighborhood/execute'],
    ...['comm/datatype', ...calls, 'comm/calls/collectives/reduce', 'comm/calls/program', 'comm/context'],
  ]),
  room('neighborhood', [
    ...['topology', 'topology/generate', 'topology/friends', 'topology/grouping', 'schedule/file'],
    ...['machine', 'machine/text'],
    ...[...ownProcess, ...calls, 'comm/calls/program', 'comm/p2p', 'comm/context', 'comm'],
    ...[
      'neighborhood/route',
      'neighborhood/candidates',
      'neighborhood/choose',
      'neighborhood/plan',
      'neighborhood/distributed',
      ...execution,
    ],
  ]),
  room('neighborhood/spmm', [
    ...['text', 'topology', 'topology/matrix', 'machine', 'simulate', 'comm', 'comm/calls/program'],
    ...[
      'neighborhood/plan',
      'neighborhood/candidates',
      'neighborhood/choose',
      'neighborhood/execute',
      'neighborhood/execute/tune',
    ],
    'neighborhood',
  ]),

  room('calibrate', ['topology', 'machine', 'comm/datatype', 'comm', 'neighborhood']),

  room('launch/processes', ['fabric', 'fabric/threads', 'comm/process', 'comm/world', 'package-paths.ts'], {
    packages: ['tsx'],
  }),
  room('launch/websocket', [
    ...['rendezvous/protocol', 'rendezvous', 'fabric/websocket', 'comm/process', 'comm/world'],
    ...['launch/processes', 'package-paths.ts'],
  ]),
  room('launch', [
    ...['text', ...fabrics, 'comm/process', 'comm/world', 'launch/processes', 'launch/websocket'],
    'package-paths.ts',
  ]),
  room('browser', [
    ...['comm/process', 'comm', 'comm/world', 'fabric', 'fabric/websocket'],
    ...['rendezvous/protocol', 'rendezvous', 'launch/websocket'],
  ]),
  { path: 'worker.ts', imports: ['launch', 'neighborhood'] },
  { path: 'worker-from-source.mjs', imports: ['worker.ts'], packages: ['tsx'] },
  { path: 'child.ts', imports: ['launch/websocket', 'neighborhood'] },
  { path: 'child-from-source.mjs', imports: ['child.ts'], packages: ['tsx'] },

  room(
    'conformance',
    [
      ...[
        'topology',
        'topology/generate',
        'collective',
        'fabric',
        'fabric/conformance',
        ...messages,
        'comm/datatype',
        'comm',
      ],
      ...[
        'machine',
        'machine/profiles',
        'neighborhood/plan',
        'neighborhood/candidates',
        'neighborhood/choose',
        'neighborhood',
        'launch',
      ],
      'package-paths.ts',
    ],
    { many: 'one file per kind of guarantee, and what computes the results expected' },
  ),

  room('service/protocol', [], { packages: ['zod'] }),
  room('client', [
    'schedule',
    'schedule/file',
    'simulate',
    'report',
    'rendezvous/protocol',
    'service/protocol',
  ]),
  room('service', []),
  room('service/worlds/hosts', [
    ...['fabric/local', 'rendezvous', 'fabric/websocket', 'comm/process/waits', 'comm', 'comm/world'],
    ...['launch/websocket', 'package-paths.ts'],
  ]),
  room('service/worlds', [
    ...['text', 'rendezvous/protocol', 'rendezvous/watch', 'rendezvous', 'comm'],
    ...['package-paths.ts', 'service/protocol', 'service', 'service/worlds/hosts'],
  ]),
  room('service/rendezvous', ['rendezvous', 'launch/websocket', 'service/protocol', 'service']),
  room('service/store', ['service/protocol', 'service'], { packages: ['zod'] }),
  room('service/jobs', [
    ...[
      'text',
      'topology',
      'topology/matrix',
      'topology/friends',
      'topology/spec',
      'machine',
      'machine/text',
    ],
    ...[
      'schedule',
      'schedule/file',
      'simulate',
      'export',
      'report',
      'neighborhood/request',
      'package-paths.ts',
    ],
    ...['service/protocol', 'service', 'service/store'],
  ]),
  room(
    'service/http',
    [
      ...['rendezvous', 'service/protocol', 'service', 'service/store', 'service/jobs'],
      ...['service/worlds', 'service/rendezvous'],
    ],
    { packages: ['fastify', 'prom-client', 'ws', 'zod'] },
  ),
  room(
    'service/serve',
    [
      ...['package-paths.ts', 'service/protocol', 'service', 'service/store', 'service/jobs'],
      ...['service/worlds', 'service/rendezvous', 'service/http'],
    ],
    { packages: ['fastify', 'pino'] },
  ),
  room(
    'cli/input',
    [
      'text',
      'topology',
      'topology/friends',
      ...machines,
      'schedule',
      'simulate',
      'neighborhood/plan',
      'neighborhood/candidates',
      'neighborhood/choose',
      'neighborhood/request',
      ...fabrics,
      'comm/process',
      'launch/processes',
      'launch/websocket',
    ],
    { packages: ['commander', 'zod'] },
  ),
  room(
    'cli/program',
    [
      'calibrate',
      ...['topology', 'fabric', 'fabric/mpi', 'comm/process', 'comm/table', 'comm/context/split/plan'],
      ...[
        'comm/calls/program',
        'comm/context',
        'comm',
        'comm/world',
        'neighborhood/plan',
        'neighborhood/spmm',
        'machine',
        'study',
        ...launching,
        'package-paths.ts',
      ],
      'cli/input',
    ],
    { many: 'one program per command, and what they share' },
  ),
  room(
    'cli/output',
    [
      'cli/input',
      'calibrate',
      ...[
        'text',
        'topology',
        'topology/friends',
        'topology/grouping',
        'topology/translations',
        'topology/spec',
      ],
      ...['machine/interior', 'machine', 'schedule', 'schedule/terms', 'schedule/verify', 'simulate'],
      ...[
        'neighborhood/candidates',
        'neighborhood/choose',
        'neighborhood/request',
        'study/document',
        'study',
        'study/paper',
        'fabric/mpi',
        'comm/process',
        'comm/context/split/plan',
        'cli/program',
      ],
    ],
    { many: 'one report per command, and what they share' },
  ),
  room(
    'cli/commands',
    [
      'calibrate',
      'client',
      'export',
      'report',
      'shim',
      'models',
      'package-paths.ts',
      ...[...topologies, 'topology/grouping', 'topology/spec', 'text', ...machines],
      ...['schedule', 'schedule/file', 'schedule/verify', ...collectives, 'fabric/mpi'],
      ...['simulate/engine', 'simulate', 'simulate/pictures'],
      ...[
        'comm/context/split/plan',
        'neighborhood/candidates',
        'neighborhood/choose',
        'neighborhood/request',
        'neighborhood/plan',
        'neighborhood',
        'neighborhood/spmm',
        'study/document',
        'study',
        'study/paper',
        ...launching,
        'service/protocol',
        'service',
        'service/serve',
        'cli/input',
        'cli/program',
        'cli/output',
      ],
    ],
    { packages: ['commander', 'zod'], many: 'one file per subcommand, and where schedules come from' },
  ),
  room('cli', ['cli/program', 'cli/output', 'cli/commands', 'package-paths.ts'], { packages: ['commander'] }),

  // What users import: whatever is public, wherever it is.
  room('entry', [
    'browser',
    ...['client', 'report', 'service/protocol'],
    ...[
      ...topologies,
      'topology/grouping/distributed',
      'topology/grouping',
      'topology/spec',
      'text',
      ...machines,
    ],
    ...[
      ...schedules,
      ...collectives,
      ...simulation,
      'models/formulas',
      'models',
      'models/congestion',
      'export',
      ...fabrics,
      'fabric/conformance',
    ],
    ...[...messages, ...ownProcess, ...calls, 'comm/calls/program'],
    ...['comm/context/split/plan', 'comm/context', 'comm', 'comm/world', ...launching, 'conformance'],
    ...[
      'neighborhood/route',
      'neighborhood/friends',
      'neighborhood/candidates',
      'neighborhood/choose',
      'neighborhood/plan',
      'neighborhood/distributed',
      ...execution,
      'neighborhood',
    ],
    'neighborhood/spmm',
  ]),
]

/** A room above `errors` and `base`, which every room may import. */
function room(path: string, imports: readonly string[], more: Omit<Room, 'path' | 'imports'> = {}): Room {
  return { path, imports: ['errors.ts', ...(path.startsWith('base') ? [] : ['base']), ...imports], ...more }
}

/** Where the files of a room are. */
const folderOf = (path: string) => (posix.extname(path) === '' ? `src/${path}` : 'src')

/** What the files of one room may import, as patterns of their import text. */
function allowedPatterns({ path, imports, packages = [] }: Room): string[] {
  const own = posix.extname(path) === '' ? ['./*.js'] : []
  const others = imports.map((other) => {
    const target = posix.relative(folderOf(path), `src/${other}`)
    const text = target.startsWith('.') ? target : `./${target}`
    return posix.extname(other) === '' ? `${text}/*.js` : text.replace(/\.ts$/, '.{js,ts}')
  })
  return ['node:*', 'node:*/*', ...packages.flatMap((name) => [name, `${name}/**`]), ...own, ...others]
}

/** The rules of one room. */
function override(room: Room): object {
  const names = room.imports.map((other) => other.replace(/\.ts$/, ''))
  const options = {
    patterns: [
      {
        group: ['**', ...allowedPatterns(room).map((pattern) => `!${pattern}`)],
        message: `src/${room.path} may import only ${['itself', ...names].join(', ')} (scripts/rooms.ts).`,
      },
    ],
  }
  const isFile = posix.extname(room.path) !== ''
  return {
    includes: [isFile ? `src/${room.path}` : `src/${room.path}/*`],
    linter: { rules: { style: { noRestrictedImports: { level: 'error', options } } } },
  }
}

/** What `biome.rooms.json` has to be, which `biome.json` extends. */
export function lintRules(): string {
  return `${JSON.stringify({ overrides: rooms.map(override) }, null, 2)}\n`
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL('../biome.rooms.json', import.meta.url), lintRules())
}
