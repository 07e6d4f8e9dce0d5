// Prints what Node colors on a terminal.
/** @param {import('rankweave').Communicator} world */
export default async function main(world) {
  await world.barrier()
  if (world.rank === 0) console.log('a number', 42, { text: 'words' })
}
