import { describe, expect, it } from 'vitest'
import { escapeXml } from '../../../src/text/printable.js'
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
