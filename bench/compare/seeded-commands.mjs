// Commands of a seeded generator: topologies, strategies, machines and algorithms of all kinds, some with a fault.

const pick = (random, list) => list[Math.floor(random() * list.length)]
const chance = (random, share) => random() < share

const topologies = [
  'moore:8x8:r=1',
  'moore:6x5:r=2:open',
  'stencil:4x4x4:star:r=1',
  'stencil:7x9:diamond:r=2',
  'cart:4x4x2:periodic',
  'er:48:d=0.2:seed=3',
  'er:64:d=0.05:seed=4',
  'rgg:64:r=0.2:seed=5',
  'ws:60:k=6:p=0.2:seed=6',
  'powerlaw:64:d=6:seed=7',
  'rmat:64:d=8:seed=8',
  'moore:1x1:r=1',
]
const wrongTopologies = [
  'moore:8x8',
  'foo:3',
  'er:64:d=2:seed=1',
  'cart:0x4',
  'csv:absent.csv',
  'ws:8:k=9:p=0.5:seed=1',
]
const profile = 'profile=simgrid-fast'
const machines = [
  `cluster:nodes=4,cores=16,${profile}`,
  `cluster:cores=3x16+20,packages=2,${profile}`,
  `torus:dims=4x4x4,${profile}`,
  `mesh:dims=8x8,ports=4,${profile}`,
  `clos:radix=8,levels=2,cores=4,${profile}`,
]
const wrongMachines = [
  'cluster:nodes=0,cores=4',
  'torus:dims=4xx4',
  `cluster:nodes=4,cores=16,profile=absent`,
  'ring:8',
]
const strategies = [
  ...[
    'direct',
    'common-neighbor',
    'descending',
    'cumulative',
    'routed',
    'hierarchical',
    'lanes',
    'allgather',
    'pipelined',
  ],
  ...['routed:first=2', 'pipelined:between=4,inside=16', 'hierarchical:inside=4', 'auto'],
]
const wrongStrategies = ['commonneighbor', 'routed:width=-1', 'pipelined:steps=', 'auto:k=2']
const algorithms = [
  ...[
    'bcast-binomial',
    'bcast-chain:fanout=4',
    'bcast-binary:segments=8',
    'scatter-binomial',
    'gather-linear',
  ],
  ...[
    'allgather-ring',
    'allgather-bruck',
    'allgather-bucket:ports=2,shuffle=1',
    'alltoall-pairwise',
    'alltoall-bruck',
  ],
  ...['reduce-binary', 'allreduce-ring', 'allreduce-recursive-doubling', 'reduce-scatter-ring', 'scan-chain'],
  ...[
    'barrier-dissemination',
    'allreduce-bucket',
    'bcast-knomial:radix=4',
    'allgather-binomial',
    'reduce-rabenseifner',
  ],
]
const collectives = [
  'bcast',
  'scatter',
  'gather',
  'allgather',
  'alltoall',
  'reduce',
  'allreduce',
  'reduce-scatter',
  'scan',
]
const bytes = ['0', '1', '64', '1000', '4096', '65536', '1000000', '-1', 'many']
const ranks = ['1', '2', '7', '8', '16', '33', '64', '0', '1e9']

/** Draws the arguments of one command; about half have something wrong in them. */
export function drawCommand(random) {
  const from = (right, wrong) => pick(random, chance(random, 0.12) ? wrong : right)
  const spec = () => from(topologies, wrongTopologies)
  const machine = () => from(machines, wrongMachines)
  const strategy = () => from(strategies, wrongStrategies)
  const maybe = (...args) =>
    chance(random, 0.4) ? args.map((each) => (typeof each === 'function' ? each() : each)) : []
  const length = () => pick(random, chance(random, 0.15) ? bytes : bytes.slice(0, 7))
  const size = () => pick(random, chance(random, 0.15) ? ranks : ranks.slice(0, 7))
  const algorithm = () =>
    from([...algorithms, ...algorithms], ['bcast-foo', 'allgather-ring:x=1', 'bcast-chain:fanout=0'])
  const collective = () => from(collectives, ['broadcast'])
  const json = () => (chance(random, 0.5) ? ['--json'] : [])
  const draws = [
    () => [
      'plan',
      spec(),
      '--strategy',
      strategy(),
      ...maybe('--k', '4'),
      ...maybe('--machine', machine),
      ...maybe('-o', 'plan.jsonl'),
      ...json(),
    ],
    () => [
      'plan',
      spec(),
      '--strategy',
      'auto',
      '--machine',
      machine(),
      '--bytes',
      length(),
      ...maybe('--compare'),
      ...json(),
    ],
    () => ['topology', spec(), ...maybe('--k', '2,3,5'), ...maybe('--machine', machine), ...json()],
    () => [
      'topology',
      spec(),
      '--format',
      pick(random, ['metis', 'mtx', 'csv', 'edges', 'graphology', 'dot']),
      '-o',
      'graph',
    ],
    () => [
      'schedule',
      algorithm(),
      '--ranks',
      size(),
      ...maybe('-o', 'schedule.jsonl'),
      ...maybe('--root', '1'),
      ...json(),
    ],
    () => [
      'schedule',
      collective(),
      '--machine',
      machine(),
      '--bytes',
      length(),
      '--budget',
      '3',
      ...maybe('--compare'),
      ...json(),
    ],
    () => [
      'simulate',
      algorithm(),
      '--machine',
      machine(),
      '--bytes',
      length(),
      ...maybe('--ranks', size),
      ...json(),
    ],
    () => [
      'simulate',
      spec(),
      '--strategy',
      strategy(),
      '--machine',
      machine(),
      '--bytes',
      length(),
      ...json(),
    ],
    () => [
      'map',
      spec(),
      '--machine',
      machine(),
      ...maybe('--objective', () => pick(random, ['edges', 'hop-bytes', 'busiest-node'])),
      '-o',
      'map',
      ...json(),
    ],
    () => [
      'models',
      collective(),
      '--profile',
      'simgrid-fast',
      '--ranks',
      size(),
      '--bytes',
      length(),
      ...maybe('--model', 'hockney'),
      ...json(),
    ],
    () => ['machine', machine(), ...json()],
    () => ['export', spec(), '--strategy', strategy(), '--format', 'c', '-o', 'plan.c'],
    () => [
      'export',
      algorithm(),
      '--ranks',
      size(),
      '--format',
      'goal',
      '--bytes',
      length(),
      '-o',
      'plan.goal',
    ],
    () => ['study', pick(random, topologies.slice(0, 6)), '--machine', machine()],
    () => ['report', spec(), ...maybe('--machine', machine), '-o', 'report.html'],
    () => ['schedule', '--list', ...json()],
    () => [
      pick(random, ['plan', 'simulate', 'tune', 'verify', 'match', 'learn', 'run']),
      pick(random, ['--help', 'absent', '--absent']),
    ],
  ]
  return pick(random, draws)()
}
