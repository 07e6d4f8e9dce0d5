/** Text of a file as a message shows it: control characters and bytes that are not UTF-8 are escaped. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\ufffd]/gu, (character) => {
    const hex = character.codePointAt(0)!.toString(16)
    return hex.length > 2 ? `\\u${hex.padStart(4, '0')}` : `\\x${hex.padStart(2, '0')}`
  })
}

/**
 * Text of an element or an attribute of XML or HTML; characters that XML does not allow, and tabs and line
 * ends, become spaces.
 */
export function escapeXml(text: string): string {
  return text
    .replace(/[\p{Cc}\ufffe\uffff]/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** The shortest text that reads back as the same double, negative zero included. */
export function formatDouble(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}
