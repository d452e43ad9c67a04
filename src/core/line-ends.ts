/** What HTTP passes over but others take for the end of a line: Node's `readline`, Python's `splitlines`. JSON leaves it as it is. */
const OTHER_ENDS = /[\x85\u2028\u2029]/g;

/** JSON, of one line or several that LF ends, in which no reader of lines finds another end. The values stay what they are. */
export function withLineFeedsOnly(json: string): string {
  return json.replace(OTHER_ENDS, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
