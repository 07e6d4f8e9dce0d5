import { describe, expect, it } from 'vitest'
import { escapeXml, shellWord } from '../../../src/text/printable.js'
import { elementsOf } from '../../support/well-formed-xml.js'

describe('escapeXml', () => {
  it('leaves no markup in text or in quoted attributes', () => {
    expect(escapeXml('<script>"A" & B</script>')).toBe('&lt;script&gt;&quot;A&quot; &amp; B&lt;/script&gt;')
    expect(elementsOf(`<a href="${escapeXml('"><b/>')}">${escapeXml('</a><b/>')}</a>`)).toEqual(['a'])
  })

  it('replaces characters that XML does not allow by spaces', () => {
    expect(escapeXml('a\u0000b\u001bc\nd\uffffe')).toBe('a b c d e')
  })

  it('leaves other text as it is', () => {
    expect(escapeXml("moore:4x4:r=1 – 'µs' 😀")).toBe("moore:4x4:r=1 – 'µs' 😀")
  })
})

describe('a word of a line for a shell', () => {
  it.each([
    ['edges:out/graph.txt', 'edges:out/graph.txt'],
    ['my file.jsonl', "'my file.jsonl'"],
    ["it's", "'it'\\''s'"],
    ['a;rm', "'a;rm'"],
    ['', "''"],
  ])('%s is read as one word', (word, shown) => {
    expect(shellWord(word)).toBe(shown)
  })
})
