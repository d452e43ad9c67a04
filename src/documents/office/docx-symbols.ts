const SYMBOL = /<w:sym\b([^<>]*?)\/>/g;

/** Characters of fonts of symbols (ECMA-376 part 1, §17.3.3.30) as text: the library knows none. Unknown ones are left out. */
export function symbolsAsText(xml: string): string {
  return xml.replace(SYMBOL, (_, attributes: string) => {
    const font = /\bw:font="([^"]*)"/.exec(attributes)?.[1] ?? '';
    const code = Number.parseInt(/\bw:char="([\da-f]{1,6})"/i.exec(attributes)?.[1] ?? '', 16);
    const sign = signOf(font, code);
    return sign === '' ? '' : `<w:t>${sign}</w:t>`;
  });
}

function signOf(font: string, code: number): string {
  // Fonts of symbols have their characters from F020 on, which are nobody's.
  const known = FONTS[font.toLowerCase()]?.get(code & 0xff);
  if (known !== undefined && (code < 0x100 || code >> 8 === 0xf0)) return known;
  const isText = code >= 0xa0 && code < 0xfffe && !(code >= 0xd800 && code < 0xf900);
  return isText && known === undefined ? String.fromCharCode(code) : '';
}

/** Signs that follow each other from a code on. */
function signs(...runs: readonly (readonly [code: number, signs: string])[]): ReadonlyMap<number, string> {
  return new Map(runs.flatMap(([code, all]) => [...all].map((sign, index) => [code + index, sign] as const)));
}

const FONTS: Readonly<Record<string, ReadonlyMap<number, string>>> = {
  wingdings: signs(
    [0x28, '☎'],
    [0x2a, '✉'],
    [0x4a, '☺😐☹'],
    [0x6c, '●❍■□'],
    [0x71, '❑❒⬧⧫◆❖⬥'],
    [0x80, '⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿'],
    [0x9e, '·•▪○'],
    [0xa7, '▪◻'],
    [0xab, '★'],
    [0xd8, '➢'],
    [0xdf, '←→↑↓↖↗↙↘'],
    [0xe8, '➔'],
    [0xef, '⇦⇨⇧⇩⬄⇳'],
    [0xfb, '✗✓☒☑'],
  ),
  'wingdings 2': signs([0x4f, '✗✓☒☑'], [0xa3, '□'], [0x97, '●']),
  symbol: signs(
    [0x22, '∀'],
    [0x24, '∃'],
    [0x41, 'ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ'],
    [0x61, 'αβχδεφγηιϕκλμνοπθρστυϖωξψζ'],
    [0xa2, '′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…'],
    [0xb4, '×'],
    [0xc6, '∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓'],
    [0xe5, '∑'],
    [0xf2, '∫'],
  ),
};
