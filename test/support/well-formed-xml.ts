/**
 * The names of the elements of an XML text, in order. Throws where it is not well formed: tags that do not
 * match, attributes without quotes or twice, bare `&` or `<`. Declarations and comments are passed over;
 * entities are the five of XML.
 */
export function elementsOf(text: string): string[] {
  const open: string[] = []
  const names: string[] = []
  const tags = /<!DOCTYPE [^>]*>|<!--[\s\S]*?-->|<(\/?)([A-Za-z][\w-]*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>/g
  let end = 0
  for (const match of text.matchAll(tags)) {
    requireText(text.slice(end, match.index))
    end = match.index + match[0].length
    const [, closing, name, attributes = '', empty] = match
    if (name === undefined) continue
    requireAttributes(attributes)
    if (closing === '/') {
      const last = open.pop()
      if (last !== name) throw new Error(`</${name}> closes <${last}>`)
      continue
    }
    names.push(name)
    if (empty !== '/') open.push(name)
  }
  requireText(text.slice(end))
  if (open.length > 0) throw new Error(`<${open.at(-1)}> is not closed`)
  return names
}

function requireAttributes(attributes: string): void {
  const names = [...attributes.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, name, value]) => {
    requireText(value)
    return name
  })
  if (new Set(names).size < names.length) throw new Error(`attribute twice: ${attributes}`)
}

function requireText(text: string): void {
  if (/[<]|&(?!(?:amp|lt|gt|quot|apos);)/.test(text)) throw new Error(`not escaped: ${text.slice(0, 80)}`)
}
