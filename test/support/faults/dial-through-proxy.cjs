// Required before a program and its workers: what it dials on this host goes through the proxy of the test, and the proxy is told who
// dials whom, and who listens where. The program itself knows nothing of it.
const net = require('node:net')
const { syncBuiltinESMExports } = require('node:module')

module.exports = (proxyPort) => {
  const { connect } = net
  const { listen } = net.Server.prototype

  net.connect = net.createConnection = (...args) => {
    const [options] = args
    const isHere = typeof options === 'object' && ['127.0.0.1', 'localhost'].includes(options.host)
    if (!isHere) return connect(...args)
    const socket = connect({ ...options, host: '127.0.0.1', port: proxyPort })
    socket.write(`DIALS ${process.pid} ${options.port}\r\n`)
    return socket
  }

  net.Server.prototype.listen = function (...args) {
    this.once('listening', () => {
      const { port } = this.address() ?? {}
      if (port === undefined) return
      const socket = connect({ host: '127.0.0.1', port: proxyPort })
      socket.on('error', () => {})
      socket.end(`LISTENS ${process.pid} ${port}\r\n`)
      socket.unref()
    })
    return listen.apply(this, args)
  }

  syncBuiltinESMExports()
}
