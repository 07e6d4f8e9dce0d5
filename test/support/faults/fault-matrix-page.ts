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
  'detached array': 'the rank transfers the array that it passed elsewhere while the call runs',
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
    'The faulty process is the last one, or process 0 where the table says so.',
    'Every combination below is a test: some in `npm test`, a third in `npm run soak`, all of them in `npm run soak:long`.',
    'Those of `mpi` are alternately on Open MPI and MPICH.',
    'What to do about a lost process is in [Surviving losses](surviving-losses.md).',
    '',
    `Operations: ${operations.join(', ')}.`,
    '',
    '- *The operation*: its error at both survivors; `ERR_PEER_LOST` names the process.',
    '- *Other operations*: what the survivors do among themselves at that time: collectives, and messages past the eager limit.',
    '- *`shrink`*: after `revoke`, the ranks of the communicator it returns.',
    '- *`run`*: once the survivors have returned; a rank that has called `shrink` continues without those that are lost.',
    '',
    ...fabrics.flatMap(sectionOf),
  ].join('\n')}`
}

function sectionOf(fabric: FaultyFabric): string[] {
  const rows = faultRows.filter((row) => row.fabric === fabric)
  return [
    `## \`${fabric}\``,
    '',
    fabricText[fabric],
    '',
    '| fault | how | during | the operation | other operations | `shrink` | `run` |',
    '|---|---|---|---|---|---|---|',
    ...[...new Set(rows.map(nameOf))].flatMap((name) => linesOf(rows.filter((row) => nameOf(row) === name))),
    '',
  ]
}

const nameOf = ({ fault, victim }: FaultRow) => (victim === 0 ? `${fault}, at process 0` : fault)

/** A line per outcome: operations that end alike share one. */
function linesOf(rows: readonly FaultRow[]): string[] {
  const byOutcome = new Map<string, FaultRow[]>()
  for (const row of rows) {
    const key = JSON.stringify(cellsOf(row))
    byOutcome.set(key, [...(byOutcome.get(key) ?? []), row])
  }
  return [...byOutcome.values()].map((alike) => {
    const row = alike[0]
    const during =
      alike.length === operations.length
        ? 'every operation'
        : alike.map(({ operation }) => operation).join(', ')
    return `| ${[nameOf(row), faultText[row.fault], during, ...cellsOf(row)].join(' | ')} |`
  })
}

function cellsOf({ code, maySucceed, others, shrink, run, victim }: FaultRow): string[] {
  const ranks = [0, 1, 2].filter((rank) => shrink === 'all' || rank !== victim)
  return [
    code === null
      ? 'succeeds'
      : `${codeText(code)}${maySucceed === true ? ' at every rank, or succeeds' : ''}`,
    others === null ? 'succeed' : codeText(others),
    shrink === 'all' || shrink === 'survivors' ? `ranks ${ranks.join(', ')}` : codeText(shrink),
    run === null ? 'resolves' : run === jobKilled ? run : `rejects with ${codeText(run)}`,
  ]
}

const codeText = (code: string) => (code.startsWith('ERR_') ? `\`${code}\`` : code)
