import type { Communicator } from 'rankweave'

export interface FreshArrays {
  readonly sizeBytes: number
  /** In each direction; page faults are counted from half of them on. */
  readonly messages: number
}

/** Two ranks exchange arrays, received without `into`. Resolves to the page faults of the process per message. */
export default async function main(
  world: Communicator,
  { sizeBytes, messages }: FreshArrays,
): Promise<number> {
  const data = new Uint8Array(sizeBytes).fill(1)
  const peer = 1 - world.rank
  let faults = 0
  let held: unknown = data
  for (let n = 0; n < messages; n++) {
    if (n === messages / 2) faults = process.resourceUsage().minorPageFault
    if (world.rank === 0) await world.send(data, peer)
    const { data: received } = await world.recv(peer, 0, {})
    if (world.rank === 1) await world.send(data, peer)
    held = received
  }
  if (!(held instanceof Uint8Array) || held.length !== sizeBytes) throw new Error('not what was sent')
  return (process.resourceUsage().minorPageFault - faults) / messages
}
