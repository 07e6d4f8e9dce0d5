import type { Communicator } from 'rankweave'

/** How the transfer from rank 0 to rank 1 ends. */
export type Ending =
  | 'revoke'
  | 'abort'
  | 'abort a collective'
  | 'detach the data'
  | 'detach the data before the match'
  | 'detach into'
  | 'complete'

export interface Part {
  readonly endings: readonly Ending[]
  /** Elements of the message. */
  readonly length: number
  /** Turns of the event loop between the match and the end. */
  readonly turns: number
  /** Every rank but the first then waits for a message that no rank sends. */
  readonly deadlock?: boolean
}

/** What a rank got: the code of its error or `none`, and whether its buffer is as it must be. */
export interface Outcome {
  readonly code: string
  readonly intact: boolean
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** One large message per ending, on its own communicator; then one more, which completes. */
export default async function main(world: Communicator, part: Part): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const ending of part.endings) {
    const comm = await world.dup()
    outcomes.push(await ended(world, comm, ending, part))
    const revokes = ending === 'revoke' || ending === 'abort a collective'
    if (!revokes) {
      await comm.barrier()
      outcomes.push(await ended(world, comm, 'complete', part))
    }
    await world.barrier()
    if (!revokes) await comm.free()
  }
  if (part.deadlock === true && world.rank !== 0) await world.recv(0, 99)
  return outcomes
}

async function ended(world: Communicator, comm: Communicator, ending: Ending, part: Part): Promise<Outcome> {
  const bytes = part.length * 8
  let code = 'none'
  const catchCode = (error: { code?: string }) => {
    code = error.code ?? String(error)
  }
  if (ending === 'abort a collective') {
    const controller = new AbortController()
    const into = new Float64Array(part.length)
    const data = comm.rank === 0 ? new Float64Array(part.length).fill(3) : null
    const options = comm.rank === 1 ? { into, signal: controller.signal } : {}
    const done = comm.bcast(data as Float64Array, 0, options).catch(catchCode)
    await turns(part.turns)
    controller.abort()
    await done
    if (code === 'none' || comm.rank !== 1) return { code, intact: true }
    into.fill(-7)
    await turns(200)
    return { code, intact: into.every((x) => x === -7) }
  }
  if (comm.rank === 0) {
    const data = new Float64Array(part.length).fill(3)
    const request = comm.isend(data, 1, 5)
    const sent = request.wait().catch(catchCode)
    if (ending === 'detach the data' || ending === 'detach the data before the match') {
      // Rank 1 has matched the message by then.
      if (ending === 'detach the data') await world.recv(1, 6)
      const taken = structuredClone(data.buffer, { transfer: [data.buffer] })
      if (ending !== 'detach the data') await world.send(Int32Array.of(1), 1, 6)
      await sent
      // On MPI it is retained until here.
      return { code, intact: taken.byteLength === bytes }
    }
    await sent
    data.fill(4)
    return { code, intact: true }
  }
  if (comm.rank > 1) {
    if (ending === 'revoke') {
      await world.recv(1, 6)
      const controller = new AbortController()
      const barrier = comm.barrier({ signal: controller.signal }).catch(catchCode)
      controller.abort()
      await barrier
    }
    return { code, intact: true }
  }
  let into = new Float64Array(part.length)
  const controller = new AbortController()
  if (ending === 'detach the data before the match') await world.recv(0, 6)
  await comm.probe(0, 5)
  const options = ending === 'abort' ? { into, signal: controller.signal } : { into }
  const received = comm.recv(0, 5, options).catch(catchCode)
  await turns(part.turns)
  if (ending === 'revoke') await world.send(Int32Array.of(1), 2, 6)
  if (ending === 'detach the data') await world.send(Int32Array.of(1), 0, 6)
  if (ending === 'abort') controller.abort()
  if (ending === 'detach into') into = structuredClone(into, { transfer: [into.buffer] })
  await received
  if (code === 'none' && ending !== 'detach into') return { code, intact: into.every((x) => x === 3) }
  into.fill(-7)
  await turns(200)
  return { code, intact: into.every((x) => x === -7) }
}
