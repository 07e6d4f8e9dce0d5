import {
  type Fault,
  type FaultRow,
  type FaultyFabric,
  faultRows,
  jobKilled,
  operations,
} from './fault-rows.js'

const fabricText: Readonly<Record<FaultyFabric, string>> = {
  local: 'Logical processes in one event loop are lost by injection only.',
  threads: 'A process is a worker thread.',
  websocket:
    'A process is one of the operating system; the faults of connections are those between the process and all others.',
  mpi: 'The job ends with a lost process: MPI has no authority that could tell the others, and its launchers kill them.',
}

const faultText: Readonly<Record<Fault, string>> = {
  'error thrown by a rank': '`main` rejects',
  'process lost': '`LocalSession.kill`',
  'worker exits': '`process.exit` in a program that calls `run`',
  'worker terminated': '`Worker.terminate`',
  'uncaught error': 'thrown in a callback',
  'out of memory': 'beyond the limit of the heap',
  'process killed': '`SIGKILL`',
  'process stopped': '`SIGSTOP`',
  'control connection lost': 'reset, that to the rendezvous',
  'data connections lost': 'reset, those to the other processes',
  'half-open connections': 'nothing more passes, and no end is reported',
  'half-open data connections':
    'the same of those to the other processes, while that to the rendezvous lives',
  'truncated stream':
    'reset, those to the other processes, at once, when one of them is in the middle of a message',
  'truncated messages': 'whole messages of the process that lack their last bytes',
  'repeated messages': 'messages of the process that arrive twice',
  'reordered messages': 'a message of the process that arrives after its successor',
  'slow reader': '8 MiB a second from each process',
  'over-credit': 'a process of another `creditBytes` sends what no receive takes',
  'detached array': 'the rank transfers the array away during the call',
}

/** The text of `docs/fault-matrix.md`. */
export function faultMatrixPage(): string {
  const fabrics = [...new Set(faultRows.map(({ fabric }) => fabric))]
  return `${[
    '# Fault matrix',
    '',
    '<!-- Generated from test/support/faults/fault-rows.ts by `npm run docs:faults`. -->',
    '',
    'A fault strikes a world of three processes, with one rank on each, in the middle of an operation that needs the faulty process.',
    'The faulty process is the last one, or process 0 where the line says so.',
    'Every combination below is a test: some in `npm test`, a third in `npm run soak`, all of them in `npm run soak:long`.',
    'Those of `mpi` are alternately on Open MPI and MPICH.',
    '[Surviving losses](surviving-losses.md) says what a program can do about a lost process.',
    '',
    `Where a line names no operation, each of these ends alike: ${operations.join(', ')}.`,
    '',
    'The operation ends so at both survivors; `ERR_PEER_LOST` names the process.',
    'Other operations are those of the survivors among themselves at that time: collectives, and messages past the eager limit.',
    '`shrink` is called after `revoke`; `run` ends once the survivors have returned.',
    '',
    ...fabrics.flatMap(sectionOf),
  ].join('\n')}`
}

function sectionOf(fabric: FaultyFabric): string[] {
  const rows = faultRows.filter((row) => row.fabric === fabric)
  const byOutcome = grouped(rows, outcomeOf)
  return [
    `## \`${fabric}\``,
    '',
    fabricText[fabric],
    '',
    ...[...byOutcome].flatMap(([outcome, alike]) => [`${outcome}:`, '', ...linesOf(alike), '']),
  ]
}

function grouped(rows: readonly FaultRow[], keyOf: (row: FaultRow) => string): Map<string, FaultRow[]> {
  const groups = new Map<string, FaultRow[]>()
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row])
  return groups
}

const nameOf = ({ fault, victim }: FaultRow) => (victim === 0 ? `${fault}, at process 0` : fault)

/** A line per fault: operations during which it ends alike share one. */
function linesOf(rows: readonly FaultRow[]): string[] {
  return [...grouped(rows, nameOf)].map(([name, alike]) => {
    const during = alike.map(({ operation }) => operation).join(', ')
    const only = alike.length === operations.length ? '' : `; during ${during}`
    return `- **${name}**: ${faultText[alike[0]!.fault]}${only}`
  })
}

/** What a fault does to the operation, to others, to `shrink` and to `run`. */
function outcomeOf({ code, maySucceed, others, shrink, run, victim }: FaultRow): string {
  const ranks = [0, 1, 2].filter((rank) => shrink === 'all' || rank !== victim)
  if (run === jobKilled) return 'The launcher kills the job'
  const rejects = `\`run\` ${run === null ? 'resolves' : `rejects with ${codeText(run)}`}`
  if (code !== null && others === code && shrink === code)
    return `Every call fails with ${codeText(code)}; ${rejects}`
  return [
    `The operation ${code === null ? 'succeeds' : `fails with ${codeText(code)}`}${maySucceed === true ? ' at every rank, or succeeds' : ''}`,
    `other operations ${others === null ? 'succeed' : `fail with ${codeText(others)}`}`,
    `\`shrink\` ${shrink === 'all' || shrink === 'survivors' ? `returns ranks ${ranks.join(', ')}` : `fails with ${codeText(shrink)}`}`,
    rejects,
  ].join('; ')
}

const codeText = (code: string) => (code.startsWith('ERR_') ? `\`${code}\`` : code)
