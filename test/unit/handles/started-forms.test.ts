import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** The overloads of a method as a class declares them, in one line each; `*` stands for what it returns. */
function overloadsOf(source: string, name: string): string[] {
  const declared = new RegExp(
    `^  ${name}(?=[<(])[^{}]*?(?:\\{[^{}]*\\}[^{}]*?)*?\\): (?:Promise|Request)<.*$`,
    'gm',
  )
  return Array.from(source.matchAll(declared), ([text]) =>
    text
      .replace(/\s+/g, ' ')
      .replace(`${name}`, '')
      .replace(/: (?:Promise|Request)</, ': *<'),
  )
}

describe.each(['collective-communicator', 'topology-communicator'])('the methods of %s', (file) => {
  const source = readFileSync(new URL(`../../../src/handles/${file}.ts`, import.meta.url), 'utf8')
  const started = new Set(Array.from(source.matchAll(/^ {2}i(\w+)[<(]/gm), ([, name]) => name))

  it.each([...started])('%s is started with the overloads of the call', (name) => {
    expect(overloadsOf(source, name)).not.toEqual([])
    expect(overloadsOf(source, `i${name}`)).toEqual(overloadsOf(source, name))
  })
})
