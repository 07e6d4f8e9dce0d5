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
