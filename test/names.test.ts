import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../src/', import.meta.url))

/** Names that several files export, and why. */
const shared: Readonly<Record<string, string>> = {
  hosted: 'its form for all ranks of a process, likewise',
  main: 'the program of every rank; the launcher looks for this name',
}

/** Names that a module declares and exports; an overloaded function once. */
function exportedNames(path: string, text: string): string[] {
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
  const names = statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : []
    if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return []
    const declared = ts.isVariableStatement(statement)
      ? statement.declarationList.declarations
      : [statement as ts.DeclarationStatement]
    return declared.flatMap(({ name }) => (name !== undefined && ts.isIdentifier(name) ? [name.text] : []))
  })
  return [...new Set(names)]
}

/** Names with more than one declaration, each with the files that export it. */
function repeated(files: ReadonlyMap<string, string>): Record<string, string[]> {
  const places = new Map<string, string[]>()
  for (const [path, text] of files) {
    for (const name of exportedNames(path, text)) places.set(name, [...(places.get(name) ?? []), path])
  }
  return Object.fromEntries([...places].filter(([name, paths]) => paths.length > 1 && !(name in shared)))
}

it('two declarations that share a name are found, whatever they declare', () => {
  const files = new Map([
    ['a.ts', 'export interface Lane {}\nexport const size = 1\nexport function main() {}\nfunction own() {}'],
    ['b.ts', 'export class Lane {}\nexport function size(): number\nexport function size() { return 1 }'],
    ['c.ts', 'export default function main() {}\nexport function own() {}\nexport { Lane } from "./a.js"'],
  ])
  expect(repeated(files)).toEqual({ Lane: ['a.ts', 'b.ts'], size: ['a.ts', 'b.ts'] })
})

it('no two exported declarations of src share a name', () => {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => /\.ts$/.test(path))
  expect(paths.length).toBeGreaterThan(500)
  expect(repeated(new Map(paths.map((path) => [path, readFileSync(root + path, 'utf8')])))).toEqual({})
})
