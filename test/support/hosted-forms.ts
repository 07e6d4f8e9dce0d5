import type { Communicator } from 'rankweave'

/** What a test wants a program with both forms to do. */
export type HostedPart =
  | 'values'
  | 'throw'
  | 'deadlock'
  | 'too few'
  | 'throwing entry'
  | 'promises'
  | 'compute'

/** One rank's form: what the hosted one gives a rank, but for its name. */
export default async function main(world: Communicator): Promise<string> {
  const ranks = await world.allgather(Int32Array.of(world.rank))
  return `default: ${world.rank} of ${ranks.join()}`
}

/** The form of all ranks of a process. */
export async function hosted(worlds: readonly Communicator[], part: HostedPart): Promise<string[]> {
  const [first] = worlds as [Communicator]
  switch (part) {
    case 'throw':
      if (first.rank > 0) throw new RangeError('out of cheese')
      await first.recv(first.rank)
      break
    case 'deadlock':
      await first.barrier()
      break
    case 'too few':
      return []
    case 'throwing entry':
      return Object.defineProperty(worlds.map(String), 0, {
        get() {
          throw new RangeError('out of cheese')
        },
      })
    case 'promises':
      return worlds.map(() => Promise.reject(new Error('late'))) as never
    case 'compute':
      await compute(worlds)
      break
    default:
  }
  const gathers = worlds.map((world) => world.allgather(Int32Array.of(world.rank)))
  const gathered = await Promise.all(gathers)
  return gathered.map((ranks, i) => `hosted: ${worlds[i]!.rank} of ${ranks.join()}`)
}

/** One rank waits while the program computes, awaits a timer, and then sends what is waited for. */
async function compute(worlds: readonly Communicator[]): Promise<void> {
  const last = worlds[worlds.length - 1]!
  const { rank } = worlds[0]!
  const received = worlds[0]!.recv(last.rank, 1)
  const end = performance.now() + 60
  while (performance.now() < end);
  await new Promise((resolve) => setTimeout(resolve, 100))
  await last.send(rank, rank, 1)
  await received
}
