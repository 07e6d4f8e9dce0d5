/** Text of an element or an attribute of XML or HTML; control characters, which XML does not allow, become spaces. */
export function escapeXml(text: string): string {
  return text
    .replace(/[^\P{Cc}]/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
