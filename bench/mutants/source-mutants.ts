import ts from 'typescript'

/** A small change of a source file: what is replaced, by what. */
export interface SourceMutant {
  readonly start: number
  readonly end: number
  readonly replacement: string
  /** From 1. */
  readonly line: number
}

/** What an operator is replaced by: the nearest wrong one. */
const otherOperators: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.PlusToken, '-'],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.AsteriskToken, '+'],
  [ts.SyntaxKind.SlashToken, '*'],
  [ts.SyntaxKind.PercentToken, '*'],
  [ts.SyntaxKind.AmpersandToken, '|'],
  [ts.SyntaxKind.BarToken, '&'],
  [ts.SyntaxKind.CaretToken, '|'],
  [ts.SyntaxKind.LessThanLessThanToken, '>>'],
  [ts.SyntaxKind.GreaterThanGreaterThanGreaterThanToken, '<<'],
  [ts.SyntaxKind.PlusEqualsToken, '-='],
  [ts.SyntaxKind.MinusEqualsToken, '+='],
])

/**
 * All single small changes of a source file that this tester knows: another operator, a negation left out, an
 * increment that decrements, branches exchanged, a condition that always holds or never, a number one higher,
 * the other Boolean, a statement left out. Types, and what is inside of template strings, is left alone:
 * messages are not tested word by word.
 */
export function sourceMutants(text: string): readonly SourceMutant[] {
  const file = ts.createSourceFile('mutated.ts', text, ts.ScriptTarget.Latest, true)
  const found: SourceMutant[] = []
  const replace = (node: ts.Node, replacement: string): void => {
    const start = node.getStart(file)
    const line = file.getLineAndCharacterOfPosition(start).line + 1
    found.push({ start, end: node.getEnd(), replacement, line })
  }

  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isTemplateExpression(node) || isDeclarationOnly(node)) return
    if (ts.isThrowStatement(node)) {
      replace(node, ';')
      return
    }
    if (ts.isBinaryExpression(node)) {
      const other = otherOperators.get(node.operatorToken.kind)
      if (other !== undefined) replace(node.operatorToken, other)
    } else if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) mutateUnary(node)
    else if (ts.isConditionalExpression(node)) {
      const [yes, no] = [node.whenTrue.getText(file), node.whenFalse.getText(file)]
      replace(node, `(${node.condition.getText(file)}) ? ${no} : ${yes}`)
    } else if (ts.isIfStatement(node)) {
      replace(node.expression, 'true')
      replace(node.expression, 'false')
    } else if (ts.isNumericLiteral(node)) {
      if (!hasNoEffect(node)) replace(node, `(${node.text} + 1)`)
    } else if (node.kind === ts.SyntaxKind.TrueKeyword) replace(node, 'false')
    else if (node.kind === ts.SyntaxKind.FalseKeyword) replace(node, 'true')
    else if (isEffect(node)) replace(node, ';')
    ts.forEachChild(node, visit)
  }

  const mutateUnary = (node: ts.PrefixUnaryExpression | ts.PostfixUnaryExpression): void => {
    const operand = node.operand.getText(file)
    if (node.operator === ts.SyntaxKind.PlusPlusToken) {
      replace(node, ts.isPrefixUnaryExpression(node) ? `--${operand}` : `${operand}--`)
    } else if (node.operator === ts.SyntaxKind.MinusMinusToken) {
      replace(node, ts.isPrefixUnaryExpression(node) ? `++${operand}` : `${operand}++`)
    } else if (node.operator !== ts.SyntaxKind.PlusToken) replace(node, operand)
  }

  visit(file)
  return found
}

export function applied(text: string, { start, end, replacement }: SourceMutant): string {
  return text.slice(0, start) + replacement + text.slice(end)
}

/** The line of a mutant, without what surrounds it. */
export function lineOf(text: string, { start, end }: SourceMutant): string {
  const lineEnd = text.indexOf('\n', end)
  return text.slice(text.lastIndexOf('\n', start) + 1, lineEnd === -1 ? undefined : lineEnd).trim()
}

/** The source of a mutant on one line, e.g. `a < b -> <=`. */
export function describeMutant(text: string, mutant: SourceMutant): string {
  const { start, end, replacement } = mutant
  const short = (code: string, most: number): string => code.replaceAll(/\s+/g, ' ').slice(0, most)
  return `${short(text.slice(start, end), 40)} -> ${short(replacement, 40)} in: ${short(lineOf(text, mutant), 110)}`
}

/**
 * The number of a negative one, which is changed by its sign, and a part of the length of an array, which may
 * be longer.
 */
function hasNoEffect({ parent }: ts.NumericLiteral): boolean {
  if (ts.isPrefixUnaryExpression(parent)) return true
  const sum = ts.isBinaryExpression(parent) ? parent.parent : parent
  return ts.isNewExpression(sum)
}

/** What has no code at run time. */
function isDeclarationOnly(node: ts.Node): boolean {
  return ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)
}

/** A call or an assignment as a statement, and what leaves a loop. */
function isEffect(node: ts.Node): boolean {
  if (ts.isBreakStatement(node)) return !ts.isCaseOrDefaultClause(node.parent)
  if (ts.isContinueStatement(node)) return true
  if (ts.isReturnStatement(node)) return node.expression === undefined
  if (!ts.isExpressionStatement(node)) return false
  const { expression } = node
  return (
    (ts.isCallExpression(expression) && expression.expression.kind !== ts.SyntaxKind.SuperKeyword) ||
    (ts.isBinaryExpression(expression) && expression.operatorToken.kind === ts.SyntaxKind.EqualsToken)
  )
}
