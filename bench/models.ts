/** What the mock answers; it is all in the model's name, so that a gateway needs to pass on nothing else. */
export type Plan =
  | { readonly kind: 'json'; readonly bytes: number }
  | { readonly kind: 'flat'; readonly chunks: number }
  | { readonly kind: 'paced'; readonly chunks: number; readonly perSecond: number };

/** Reads `bench-json-1024`, `bench-flat-500` and `bench-paced-20x200` (20 a second, 200 in all). */
export function planOf(model: string): Plan | undefined {
  const json = /^bench-json-(\d+)$/.exec(model);
  if (json) return { kind: 'json', bytes: Number(json[1]) };
  const flat = /^bench-flat-(\d+)$/.exec(model);
  if (flat) return { kind: 'flat', chunks: Number(flat[1]) };
  const paced = /^bench-paced-([\d.]+)x(\d+)$/.exec(model);
  if (paced) return { kind: 'paced', perSecond: Number(paced[1]), chunks: Number(paced[2]) };
  return undefined;
}

/** The text of chunk number `index`: numbered, so that a lost, doubled or swapped one shows. */
export function word(index: number): string {
  return ` w${index}`;
}

/** About `bytes` of text in which every place looks different. */
export function textOf(bytes: number): string {
  const words: string[] = [];
  for (let length = 0; length < bytes; length += words.at(-1)?.length ?? 0) words.push(word(words.length));
  return words.join('');
}
