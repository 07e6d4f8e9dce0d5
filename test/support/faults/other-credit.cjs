// Required before a process of a world: process 2 is told of much more credit than the others give, as a modified member would take:
// as much as it may have itself.
// A listener would make the channel deliver messages before the program listens.
const { emit } = process
process.emit = function (name, message, ...rest) {
  const isData = name === 'message' && message?.kind === 'rankweave child'
  if (isData && message.process === 2) message.world.creditBytes = 0.75 * 2 ** 26
  return emit.call(this, name, message, ...rest)
}
