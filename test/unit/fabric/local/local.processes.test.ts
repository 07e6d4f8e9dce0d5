import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

describe('the event loop', () => {
  const script = (body: string) => `
    import { local } from 'rankweave'
    const session = await local({}).open()
    session.hosted[0].attach({ frame: () => console.log('delivered'), peerLost: () => {} })
    process.on('exit', () => console.log('exit'))
    ${body}
  `
  const outcome = async (body: string) => {
    const args = ['--input-type=module', '-e', script(body)]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    return stdout.trim().split('\n')
  }

  it('ends by itself when no process holds it, even with the session open', async () => {
    expect(
      await outcome(`session.hosted[0].ref(); session.hosted[0].ref();
      session.hosted[0].unref(); session.hosted[0].unref()`),
    ).toEqual(['exit'])
  })

  it('stays alive while a process holds it', async () => {
    expect(
      await outcome(`session.hosted[0].ref()
      setTimeout(() => { console.log('held'); session.hosted[0].unref() }, 20).unref()`),
    ).toEqual(['held', 'exit'])
  })

  it('stays alive until frames in flight are delivered', async () => {
    expect(await outcome('session.hosted[0].send(0, Int32Array.of(1))')).toEqual(['delivered', 'exit'])
  })
})
