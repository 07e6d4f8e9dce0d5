import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { commands } from '../../../../src/cli/commands/commands.js'

describe('the list of commands', () => {
  it.each(commands)('$name: its usage in the list is the one it has once loaded', async (listed) => {
    const command = new Command(listed.name)
    const add = await listed.load()
    add(command, () => async () => {})
    expect(command.usage()).toBe(listed.usage)
  })

  it('names every command once', () => {
    expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length)
  })
})
