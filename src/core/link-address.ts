/** An address as it may stand within the parentheses of a markdown link. */
export function linkAddress(url: string): string {
  return url
    .replace(/[\s<>]/g, encodeURIComponent)
    .replaceAll('(', '%28')
    .replaceAll(')', '%29');
}
