// The rooms of src/ from the bottom up: a room imports only itself and rooms below it, which stand before it in this list.
// `npm run rooms` writes it into docs/architecture.md; test/rooms.test.ts enforces the list.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, posix } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

/** A folder directly in `src/`, with all that is in it, or a file there. */
export interface Room {
  readonly name: string
  readonly holds: string
  /** Packages that it may import; modules of Node are free. */
  readonly packages?: readonly string[]
}

export const rooms: readonly Room[] = [
  { name: 'errors.ts', holds: 'one error class, one union of codes' },
  {
    name: 'package-paths.ts',
    holds: 'where files of the package are, by URL',
  },
  {
    name: 'base',
    holds: 'arrays, searches, random numbers, clocks, and what Node has and browsers lack',
    packages: ['@noble/hashes'],
  },
  {
    name: 'text',
    holds: 'bytes, numbers and words from and to text, piece by piece',
    packages: ['pako'],
  },
  {
    name: 'document',
    holds: 'a page as a tree of texts, tables, plots, pictures; its writers',
  },
  {
    name: 'topology',
    holds: 'who sends to whom: generators, files and one-line texts, friends and their grouping, mapping',
    packages: ['graphology', 'graphology-communities-louvain', 'graphology-types', 'highs'],
  },
  {
    name: 'machine',
    holds: 'where ranks live and what links cost: clusters, tori, Clos networks, profiles, hosts',
    packages: ['sax'],
  },
  {
    name: 'schedule',
    holds: 'a collective as data: specification, operations, file format, proof, one program per process',
  },
  { name: 'collective', holds: 'algorithms of collectives, one file each, and the patterns they share' },
  { name: 'cost', holds: 'what a schedule costs: formulas of models, and the simulator' },
  {
    name: 'neighborhood',
    holds: 'the scheduler: strategies, plans, and the choice among them; it knows no communicator',
  },
  {
    name: 'export',
    holds: 'schedules as C programs for MPI with their runtime, and as GOAL text',
  },
  {
    name: 'tuning',
    holds: 'measured times of collectives, decisions learned from them, and what decisions lose; pure',
    packages: ['zod'],
  },
  {
    name: 'fabric',
    holds: 'frames between processes: the contract, and local, threads and mpi',
    packages: ['koffi'],
  },
  {
    name: 'websocket',
    holds: 'frames over WebSockets, and the rendezvous: who joins a world, who is lost',
    packages: ['ws', 'zod'],
  },
  {
    name: 'messages',
    holds: 'datatypes; the frames, credit and memory of one process; matching and point-to-point messages',
  },
  {
    name: 'calls',
    holds: 'collective calls: matched by order, planned, and run as the program of one process',
  },
  {
    name: 'comm',
    holds: 'communicators, splits and rank tables; survivors',
  },
  {
    name: 'topology-communicator',
    holds: 'neighborhood collectives on communicators: distributed planning, requests, tuning by trial',
  },
  {
    name: 'handles',
    holds: 'the classes of communicators that users hold: one rank on a communicator, a graph, a grid',
  },
  { name: 'world', holds: 'a world from the first main to the closed session; who waits for what' },
  { name: 'spmm', holds: 'sparse times dense, from a file read in parts to timed products' },
  {
    name: 'launch',
    holds: 'starts the processes of a world on a fabric, hosts and joins worlds',
    packages: ['tsx'],
  },
  {
    name: 'calibrate',
    holds: 'what frames and memory cost, measured by the ranks of a world or fitted to collectives',
  },
  {
    name: 'shim',
    holds: 'the library that runs plans in unmodified MPI programs: C sources, compilation, recorded graphs',
  },
  {
    name: 'profile',
    holds: 'times and traffic of MPI programs, counted by a preloaded profiler',
    packages: ['zod'],
  },
  {
    name: 'advise',
    holds: 'what makes an MPI program faster, by pairs of runs; pure',
  },
  {
    name: 'measure',
    holds: 'times of collectives by setting: on a world, in an MPI library, simulated, by formula',
  },
  {
    name: 'study',
    holds: 'what strategies cost by block length, as data and document',
  },
  {
    name: 'report',
    holds: 'bounded data behind pictures of topologies and plans',
  },
  { name: 'conformance', holds: 'what fabrics and worlds promise, as cases' },
  {
    name: 'client',
    holds:
      'asks a service and is a member of its worlds; what both send each other; imports no module of Node',
    packages: ['zod'],
  },
  {
    name: 'browser',
    holds: 'a page as a process of a world; imports no module of Node',
  },
  {
    name: 'service',
    holds: 'plans and worlds over HTTP: jobs, their store, tenants, limits',
    packages: ['@rankweave/service', 'classic-level', 'fastify', 'prom-client', 'ws', 'zod'],
  },
  {
    name: 'cli',
    holds: 'the command: one file per subcommand, options, programs of ranks, printed reports',
    packages: ['commander', 'zod'],
  },
  { name: 'worker.ts', holds: 'the program of a worker thread' },
  { name: 'child.ts', holds: 'the program of an operating-system process that `run` starts' },
  { name: 'from-source.mjs', holds: 'the next two from TypeScript; not published', packages: ['tsx'] },
  {
    name: 'entry',
    holds: 'one file per import path of the package',
  },
]

/** Imports of a module in every form, types and `import()` included. */
function importsOf(text: string): string[] {
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName)
}

const roomOf = (path: string) => path.split('/')[1] ?? ''

/**
 * What breaks the rules, a line each: a file outside all rooms, an import of a room above, of a package that
 * the room does not list or of what is not in `src`, and rings of folders inside a room, by types too.
 *
 * @param sources text by path from the root of the repository, such as `src/base/search.ts`
 */
export function brokenRules(sources: ReadonlyMap<string, string>): string[] {
  const place = new Map(rooms.map(({ name }, index) => [name, index]))
  const broken: string[] = []
  const folders = new Map<string, Map<string, string>>()
  for (const [path, text] of sources) {
    const own = place.get(roomOf(path))
    if (own === undefined) {
      broken.push(`${path} is in no room`)
      continue
    }
    for (const name of importsOf(text)) {
      if (name.startsWith('node:')) continue
      if (!name.startsWith('.')) {
        const [packageName = ''] = /^(?:@[^/]+\/)?[^/]+/.exec(name) ?? []
        if (!rooms[own].packages?.includes(packageName))
          broken.push(`${path} imports the package ${packageName}`)
        continue
      }
      const target = posix.join(dirname(path), name).replace(/\.js$/, '.ts')
      const other = target.startsWith('src/') ? place.get(roomOf(target)) : undefined
      if (other === undefined) broken.push(`${path} imports ${target}, which is in no room`)
      else if (other > own) broken.push(`${path} imports ${target} from a room above`)
      else if (other === own) addEdge(folders, dirname(path), dirname(target), `${path} imports ${target}`)
    }
  }
  return [...broken, ...rings(folders)]
}

function addEdge(edges: Map<string, Map<string, string>>, from: string, to: string, how: string): void {
  if (from === to) return
  const known = edges.get(from) ?? new Map<string, string>()
  edges.set(from, known.set(to, known.get(to) ?? how))
}

/** One line for each import between folders that a way back from the imported folder closes to a ring. */
function rings(edges: ReadonlyMap<string, ReadonlyMap<string, string>>): string[] {
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean => {
    if (from === to) return true
    if (seen.has(from)) return false
    seen.add(from)
    return [...(edges.get(from)?.keys() ?? [])].some((next) => reaches(next, to, seen))
  }
  return [...edges].flatMap(([from, targets]) =>
    [...targets].flatMap(([to, how]) => (reaches(to, from) ? [`${how}: a ring of folders`] : [])),
  )
}

const page = new URL('../docs/architecture.md', import.meta.url)
const marks = ['<!-- rooms -->', '<!-- end of rooms -->'] as const

/** docs/architecture.md with today's list, the highest room first. */
export function pageWithRooms(text: string): string {
  const [begin, end] = marks.map((mark) => text.indexOf(mark))
  const lines = rooms.toReversed().map(({ name, holds }) => {
    const path = name.includes('.') ? name : `${name}/`
    return `- \`${path}\`: ${holds}`
  })
  return `${text.slice(0, begin + marks[0].length)}\n\n${lines.join('\n')}\n\n${text.slice(end)}`
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(page, pageWithRooms(readFileSync(page, 'utf8')))
}
