// Preloaded into a service that is measured: tells its parent what it holds and what it has used. Needs
// --expose-gc.
process.on('message', () => {
  globalThis.gc?.()
  const { heapUsed } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  process.send?.({ heapBytes: heapUsed, cpuMs: (user + system) / 1000 })
})
// The service ends without its parent's leave.
process.channel?.unref()
