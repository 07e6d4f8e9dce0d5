/** A program that fails in the way that its argument names; `diagnosed` has the numbers of its lines. */
export const diagnosedProgram = `import type { Communicator } from 'rankweave'

interface Halo { readonly left: number }

export default async function main(world: Communicator, [kind]: readonly string[]) {
  const halo: Halo = { left: 2 }
  if (kind === 'deadlock') {
    if (world.rank === 3) await world.recv(halo.left, 7)
    await world.barrier()
  } else if (kind === 'mismatch') {
    if (world.rank === 3) await world.allreduce(Float64Array.of(1), 'sum')
    else await world.barrier()
  } else if (kind === 'truncate') {
    if (world.rank === 0) await world.send(new Float64Array(4), 3, 7)
    if (world.rank === 3) await world.recv(0, 7, { into: new Float64Array(2) })
    await world.barrier()
  } else if (kind === 'long') {
    if (world.rank === 0) await world.send(new Float64Array(40_000), 3, 7)
    if (world.rank === 3) await world.irecv(0, 7, { into: new Float64Array(2) }).wait()
    await world.barrier()
  } else if (kind === 'split') {
    const half = await world.split(world.rank & 1)
    half.setName('halves')
    await half.recv(half.rank, 5)
  } else {
    if (world.rank === 3) throw new TypeError('thrown on purpose')
    await world.barrier()
  }
}
`

/** What standard error of four ranks has with `--diagnose`, all of it. */
export const diagnosed: Readonly<Record<string, readonly RegExp[]>> = {
  deadlock: [
    /^ERR_DEADLOCK: deadlock: 4 ranks are blocked/m,
    /rank 3 waits in recv\(source 2, tag 7\) on the world; called at \S*lines\.ts:8:\d+/,
    /in barrier\(\) #0.*; called at \S*lines\.ts:9:\d+/,
  ],
  mismatch: [
    /^ERR_COLLECTIVE_MISMATCH: /m,
    /rank [012] called barrier\(\)/,
    /rank 3 called allreduce\(sum, 1 x Float64Array\)/,
    /lines\.ts:11:\d+/,
    /(?:barrier\(\) at \S*|called at \S*)lines\.ts:12:\d+/,
  ],
  truncate: [
    /^ERR_TRUNCATE: rank 3, recv\(source 0, tag 7\) on the world: /m,
    /room for 2 elements, the message carries 4 \(from rank 0, tag 7\); called at \S*lines\.ts:15:\d+/,
    /thrown by rank 3 of the world/,
  ],
  long: [
    /^ERR_TRUNCATE: rank 3, recv\(source 0, tag 7\) on the world: /m,
    /the message carries 40000 \(from rank 0, tag 7\); called at \S*lines\.ts:19:\d+/,
    /thrown by rank 3 of the world/,
  ],
  split: [
    /recv\(source [\w ]+, tag 5\) on communicator [01]\.1 'halves'; called at \S*lines\.ts:24:\d+/,
    /communicator [01]\.1 'halves' was made by split\(\) #0 at \S*lines\.ts:22:\d+ of the world$/m,
  ],
  exception: [/^TypeError: thrown on purpose/m, /thrown by rank 3/, /lines\.ts:26:\d+/],
}
