// Process 0 sends an array and transfers it away once MPI reads it; its memory is used again at once. Process 0
// prints whether the send succeeded, and whether the message arrived as it was.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Communicator, mpi, run } from 'rankweave'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const length = 2 ** 22

async function main(world: Communicator): Promise<unknown> {
  if (world.rank === 0) {
    const data = new Float64Array(length).fill(3)
    const sent = world.send(data, 1, 7).then(
      () => 'sent',
      (error: { code?: string }) => error.code,
    )
    await world.recv(1, 9)
    structuredClone(data, { transfer: [data.buffer] })
    collectGarbage()
    const later = Array.from({ length: 4 }, () => new Float64Array(length).fill(-1))
    return [await sent, later.length]
  }
  const arrived = world.recv<Float64Array>(0, 7).then(
    ({ data }) => (data.every((value) => value === 3) ? 'right' : 'wrong'),
    (error: { code?: string }) => error.code,
  )
  // After the request for the data.
  await world.send(new Uint8Array(1), 0, 9)
  return [await arrived]
}

const factory = mpi()
const outcome = await run(main, { ranks: 2, fabric: factory })
const session = await factory.open()
if (session.job.process === 0) console.log(JSON.stringify(outcome))
await session.close()
