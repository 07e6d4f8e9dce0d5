import type { FabricFactory, SendingAhead } from '../../src/fabric/fabric.js'

/** A fabric whose collectives send messages of up to `spaceBytes` before their receivers ask for them. */
export function sendingAhead(
  factory: FabricFactory,
  spaceBytes: number,
  windowBytes = 2 * spaceBytes,
): FabricFactory {
  return {
    ...factory,
    async open() {
      const session = await factory.open()
      const ahead: SendingAhead = { windowBytes, queueBytes: 2 ** 26, spaceFor: () => spaceBytes }
      for (const fabric of session.hosted) Object.assign(fabric, { ahead })
      return session
    },
  }
}
