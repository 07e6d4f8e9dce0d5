import ts from 'typescript'

/** A small change of a source, which can be made when the program runs. */
export interface SourceMutant {
  /** The place of the expression or statement, as offsets in the source. */
  readonly start: number
  readonly end: number
  /** From 1. */
  readonly line: number
  /** What it is, and what it becomes, e.g. `a < b -> a <= b`. */
  readonly change: string
  /** The code for its place: what `test` decides is whether the program runs the changed one. */
  readonly chosen: (test: string) => string
}

/** What an operator is replaced by: the nearest wrong one. */
export const otherOperators: Readonly<Record<string, string>> = {
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '===': '!==', '!==': '===' },
  ...{ '&&': '||', '||': '&&', '&': '|', '|': '&', '^': '|', '<<': '>>', '>>>': '<<' },
  ...{ '+': '-', '-': '+', '*': '+', '/': '*', '%': '*', '+=': '-=', '-=': '+=', '++': '--', '--': '++' },
}

/**
 * All single small changes of a module that this tester knows: another operator, a negation left out, an
 * increment that decrements, branches exchanged, a condition that always holds or never, a number one higher,
 * the other Boolean, a statement left out. It leaves types alone, and what is inside of template strings, because
 * tests do not compare messages word by word. It changes functions and the fields of instances only: a process
 * evaluates the code of a module once, for whichever test file comes first, so the code cannot be attributed to
 * the test files that need it.
 */
export function sourceMutants(text: string): SourceMutant[] {
  const file = ts.createSourceFile('mutated.ts', text, ts.ScriptTarget.Latest, true)
  const found: SourceMutant[] = []

  const add = (site: ts.Node, change: string, chosen: (test: string) => string): void => {
    const [start, end] = [site.getStart(file), site.getEnd()]
    const line = file.getLineAndCharacterOfPosition(start).line + 1
    found.push({ start, end, line, change: onOneLine(change), chosen })
  }

  /** An expression is another where `part`, itself or within, is replaced. */
  const replace = (expression: ts.Expression, part: ts.Node, replacement: string): void => {
    const site = statementBegunBy(expression, file) ?? expression
    const changedCode = (node: ts.Node): string =>
      withoutSemicolon(
        text.slice(node.getStart(file), part.getStart(file)) +
          replacement +
          text.slice(part.getEnd(), node.getEnd()),
      )
    const [original, changed] = [withoutSemicolon(site.getText(file)), changedCode(site)]
    add(
      site,
      `${expression.getText(file)} -> ${changedCode(expression)}`,
      ts.isExpressionStatement(site)
        ? (test) => `{ if (${test}) ${changed}; else ${original} }`
        : (test) => `(${test} ? ${changed} : ${original})`,
    )
  }

  const leaveOut = (statement: ts.Node): void => {
    const original = withoutSemicolon(statement.getText(file))
    add(statement, `${original} -> nothing`, (test) => `{ if (!${test}) ${original} }`)
  }

  const mutate = (node: ts.Node): void => {
    if (ts.isThrowStatement(node) || isEffect(node)) leaveOut(node)
    else if (ts.isBinaryExpression(node)) {
      const other = otherOperators[node.operatorToken.getText(file)]
      if (other !== undefined) replace(node, node.operatorToken, other)
    } else if (ts.isPostfixUnaryExpression(node) || ts.isPrefixUnaryExpression(node)) {
      const [operator, operand] = [ts.tokenToString(node.operator)!, node.operand.getText(file)]
      const other = operator.length === 2 ? otherOperators[operator]! : ''
      if (operator !== '+')
        replace(node, node, ts.isPrefixUnaryExpression(node) ? other + operand : operand + other)
    } else if (ts.isConditionalExpression(node)) {
      const [yes, no] = [node.whenTrue.getText(file), node.whenFalse.getText(file)]
      replace(node, node, `((${node.condition.getText(file)}) ? ${no} : ${yes})`)
    } else if (ts.isIfStatement(node)) {
      replace(node.expression, node.expression, 'true')
      replace(node.expression, node.expression, 'false')
    } else if (ts.isNumericLiteral(node)) {
      if (!hasNoEffect(node)) replace(node, node, `(${node.text} + 1)`)
    } else if (node.kind === ts.SyntaxKind.TrueKeyword) replace(node as ts.TrueLiteral, node, 'false')
    else if (node.kind === ts.SyntaxKind.FalseKeyword) replace(node as ts.FalseLiteral, node, 'true')
  }

  const visit = (node: ts.Node, isInFunction: boolean): void => {
    if (ts.isTypeNode(node) || ts.isTemplateExpression(node) || isDeclarationOnly(node)) return
    if (isInFunction) mutate(node)
    if (ts.isThrowStatement(node)) return
    const isWithin = isInFunction || ts.isFunctionLike(node) || isFieldOfInstances(node)
    ts.forEachChild(node, (child) => visit(child, isWithin))
  }

  visit(file, false)
  return found
}

/** The statement that starts with an expression: a parenthesis there would continue the line before. */
function statementBegunBy(expression: ts.Node, file: ts.SourceFile): ts.ExpressionStatement | undefined {
  let node = expression
  while (ts.isExpression(node)) node = node.parent
  return ts.isExpressionStatement(node) && node.getStart(file) === expression.getStart(file)
    ? node
    : undefined
}

const withoutSemicolon = (code: string): string => code.replace(/\s*;$/, '')

export const onOneLine = (code: string): string => code.replaceAll(/\s+/g, ' ').slice(0, 160)

/**
 * The number of a negative one, which is changed by its sign, a part of the length of an array, which may be
 * longer, and the name of a property.
 */
function hasNoEffect(node: ts.NumericLiteral): boolean {
  const { parent } = node
  if (ts.isPrefixUnaryExpression(parent)) return true
  if ('name' in parent && parent.name === node) return true
  const sum = ts.isBinaryExpression(parent) ? parent.parent : parent
  return ts.isNewExpression(sum)
}

/** What has no code at run time. */
function isDeclarationOnly(node: ts.Node): boolean {
  return ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)
}

function isFieldOfInstances(node: ts.Node): boolean {
  return (
    ts.isPropertyDeclaration(node) &&
    !node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword)
  )
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
