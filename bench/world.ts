import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Bench, ownFigure } from './bench.js'

const ranks = 100_000
const communicators = 1000
const runs = 9

type Samples = Readonly<
  Record<'start' | 'barrier' | 'allreduce' | 'split' | 'worldBytesPerRank' | 'splitBytesPerRank', number[]>
>

/** A world with many more ranks than cores: the cost of a virtual rank. */
export const worldBench: Bench = {
  name: 'world',
  question: `What do ${ranks} ranks cost, in seconds and bytes?`,
  async *measure() {
    for (const processes of [1, 8]) {
      const samples = worldInChild(processes)
      const of = (what: string) =>
        `${what}, ${ranks} ranks on ${processes} ${processes === 1 ? 'process' : 'processes'}`
      const figure = (what: string, unit: string, values: readonly number[]) =>
        ownFigure(of(what), unit, values, null, { ranks, processes })
      yield figure('start and first barrier', 's', samples.start)
      yield figure('barrier', 's', samples.barrier)
      yield figure('allreduce of one number', 's', samples.allreduce)
      yield figure(`split into ${communicators}`, 's', samples.split)
      yield figure('running world', 'bytes per rank', samples.worldBytesPerRank)
      yield figure(`split into ${communicators}`, 'bytes per rank', samples.splitBytesPerRank)
    }
  },
}

function worldInChild(processes: number): Samples {
  const child = fileURLToPath(new URL('world-child.ts', import.meta.url))
  const args = ['--import', 'tsx', child, ranks, processes, communicators, runs].map(String)
  const out = execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  return JSON.parse(out) as Samples
}
