import { type Communicator, run } from 'rankweave'

const options = { ranks: 4, fabric: 'mpi' } as const

async function main(world: Communicator, n: number): Promise<number> {
  await world.barrier()
  return (await world.allreduce(Float64Array.of(world.rank + n), 'sum'))[0]
}

// One of them has to load its program first, and one fails to.
const worlds = await Promise.allSettled([
  run(main, { ...options, args: 0 }),
  run(new URL('../support/leaks-program.mjs', import.meta.url), { ...options, args: { end: 'returned' } }),
  run(main, { ...options, args: 1 }),
  run(new URL('./no-such-program.mjs', import.meta.url), options),
  run(main, { ...options, args: 2 }),
])
const first = process.env['OMPI_COMM_WORLD_RANK'] ?? process.env['PMI_RANK']
if (first === '0') {
  console.log(
    JSON.stringify(worlds.map((world) => (world.status === 'rejected' ? world.reason.code : world.value))),
  )
}
