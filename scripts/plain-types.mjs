// Writes the types in a folder without those of zod, whose code is in the bundle: users compile without that package.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import ts from 'typescript'

const options = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  strict: true,
  exactOptionalPropertyTypes: true,
  types: [],
}

const ownTypes = `type Schema = { readonly _zod: { readonly input: unknown; readonly output: unknown } };
type Input<S extends Schema> = S['_zod']['input'];
type Output<S extends Schema> = S['_zod']['output'];
`
const ownNames = { input: 'Input', output: 'Output', infer: 'Output', ZodType: 'Schema' }
const isOfZod = (text) => /\bz\./.test(text)

/**
 * Returns the text of a file in which each schema is a constant that keeps only its types before and after defaults,
 * and `z.input`, `z.output` and `z.infer` are types of the file itself.
 *
 * @param {ts.Program} program @param {ts.SourceFile} file @returns {string}
 */
function plainText(program, file) {
  const checker = program.getTypeChecker()
  const pieces = file.statements.flatMap((statement) => {
    if (ts.isImportDeclaration(statement) && statement.moduleSpecifier.text === 'zod') return ownTypes
    const text = statement.getFullText(file)
    if (ts.isVariableStatement(statement) && isOfZod(text)) {
      const comment = text.slice(0, statement.getLeadingTriviaWidth(file))
      const [{ name }] = statement.declarationList.declarations
      return `${comment}export declare const ${name.text}: ${schemaText(checker, checker.getTypeAtLocation(name))};`
    }
    const plain = text.replace(/\bz\.(input|output|infer|ZodType)\b/g, (_, name) => ownNames[name])
    if (!isOfZod(plain)) return plain
    if (statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword))
      throw new Error(`${file.fileName}: ${text.trim()} names a type of zod`)
    // Only schemas use it.
    return []
  })
  return `${pieces.join('')}\n`
}

/** The type of a constant that is a schema, or an object of schemas. */
function schemaText(checker, type) {
  const internals = type.getProperty('_zod')
  if (internals === undefined) return objectText(checker, type, (each) => schemaText(checker, each))
  const both = checker.getTypeOfSymbol(internals)
  const parts = ['input', 'output'].map(
    (name) => `readonly ${name}: ${typeText(checker, checker.getTypeOfSymbol(both.getProperty(name)))}`,
  )
  return `{ readonly _zod: { ${parts.join('; ')} } }`
}

/** A type of values that JSON has, in full. */
function typeText(checker, type) {
  const text = (each) => typeText(checker, each)
  // `boolean` is a union, too.
  if (type.isUnion() && !(type.flags & ts.TypeFlags.Boolean)) {
    const isLiteral = (each) => (each.flags & ts.TypeFlags.BooleanLiteral) !== 0
    const members = type.types.filter((each) => !isLiteral(each)).map(text)
    const literals = type.types.filter(isLiteral)
    return [...members, ...(literals.length === 2 ? ['boolean'] : literals.map(text))].join(' | ')
  }
  if (checker.isArrayType(type)) return `Array<${text(checker.getTypeArguments(type)[0])}>`
  const isObject = (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) !== 0
  if (isObject && !checker.isTupleType(type)) return objectText(checker, type, text)
  return checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation)
}

function objectText(checker, type, text) {
  const indices = checker
    .getIndexInfosOfType(type)
    .map((index) => `[key: ${checker.typeToString(index.keyType)}]: ${text(index.type)}`)
  const properties = checker.getPropertiesOfType(type).map((property) => {
    const mark = property.flags & ts.SymbolFlags.Optional ? '?' : ''
    return `'${property.name}'${mark}: ${text(checker.getTypeOfSymbol(property))}`
  })
  return `{ ${[...indices, ...properties].join('; ')} }`
}

const [, , folder] = argv
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
const withSchemas = names
  .filter((name) => name.endsWith('.d.ts'))
  .map((name) => join(folder, name))
  .filter((path) => /from ['"]zod['"]/.test(readFileSync(path, 'utf8')))
const program = ts.createProgram(withSchemas, options)
for (const path of withSchemas) writeFileSync(path, plainText(program, program.getSourceFile(path)))
