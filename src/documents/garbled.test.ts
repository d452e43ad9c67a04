import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decodeText } from './text.ts';

/** Text as windows-1252; the encoder of Node knows latin-1 only. */
function western(text: string): Buffer {
  const decoder = new TextDecoder('windows-1252');
  const bytes = new Map(Array.from({ length: 256 }, (_, byte) => [decoder.decode(Uint8Array.of(byte)), byte] as const));
  return Buffer.from(
    [...text].map((character) => {
      const byte = bytes.get(character);
      assert.ok(byte !== undefined, character);
      return byte;
    }),
  );
}

describe('what is surely not windows-1252 is refused, with what to do', () => {
  const cases: readonly (readonly [what: string, base64: string])[] = [
    [
      'Russian in windows-1251',
      'yu7j5OAg7vLq8O7l8vH/IO/w6Pfg6yDt7uzl8CDx5ez8PyDM+yDm5LjsIO7y4uXy4CDz5uUg8vDl8vz+IO3l5OXr/iwg6CDq7vDg4ev8IPHy7ujyIOIg7+7w8vMuIA==',
    ],
    [
      'Russian in KOI8-R',
      '68/HxMEgz9TL0s/F1NPRINDSyd7BzCDOz83F0iDTxc3YPyDt2SDWxKPNIM/U18XUwSDV1sUg1NLF1NjAIM7FxMXMwCwgySDLz9LBwszYINPUz8nUINcg0M/S1NUuIA==',
    ],
    [
      'Chinese in GBK',
      'ztLDx73xzOzPws7nyKXC6823v7S0rKOsw/fM7NTnyc/U2bvYwLSho7jbv9q1xLfR08PKx8O/zOzG39SqoaPO0sPHw/fM7NTnyc/U2cilwuvNt6OstKy98czsz8LO57vYwLShow==',
    ],
    [
      'Japanese in EUC-JP',
      'uqPG/KTPucGkx8GlpPK4q6TepLekv6GjzMDG/KTOxKuky6TepL/N6KTepLmho87BtuKkz7Dsxvy8t7HfpMekuaGjzMDG/KTiwaWk8rirpMvN6KTepLmhow==',
    ],
    [
      'Greek in windows-1253',
      '0Pz05SDh7e/f4+XpIOcg4fDv4tzo8eE7INDl8ens3e3v9ezlIOHw3O305/PnIOXk/iDq4ekg9PHl6fIg5eLk7+zc5OXyLiA=',
    ],
  ];
  for (const [what, base64] of cases) {
    test(what, () => {
      const reason = /^is neither in UTF-8 nor in Windows-1252, .*: save it as UTF-8$/;
      assert.throws(() => decodeText(Buffer.from(base64, 'base64')), { name: 'Refusal', message: reason });
    });
  }
});

test('Shift-JIS is refused for bytes that mean nothing in windows-1252', () => {
  const bytes = Buffer.from(
    'jaGT+oLNjWCCxZFEgvCMqYLcgrWCvYFClr6T+oLMkqmCyYLcgr2XiILcgreBQpe/i+CCzYjqk/qOtYl+gsWCt4FClr6T+oLgkUSC8IypgsmXiILcgreBQg==',
    'base64',
  );
  assert.throws(() => decodeText(bytes), { name: 'Refusal', message: /^is not text, or not in UTF-8/ });
});

describe('a short text in Shift-JIS is refused, too', () => {
  for (const [what, base64] of [
    ['こんにちは', 'grGC8YLJgr+CzQ=='],
    ['日本語のメモです', 'k/qWe4zqgsyDgYOCgsWCtw=='],
    ['A plan with a name of it: あしたのよてい', 'QSBwbGFuIHdpdGggYSBuYW1lIG9mIGl0OiCCoIK1gr2CzILmgsSCog=='],
  ] as const) {
    test(what, () => {
      const bytes = Buffer.from(base64, 'base64');
      assert.equal(new TextDecoder('shift_jis').decode(bytes), what);
      assert.throws(() => decodeText(bytes), { name: 'Refusal', message: /UTF-8/ });
    });
  }
});

describe('Western text is taken as it is', () => {
  const cases: readonly (readonly [what: string, text: string])[] = [
    ['French', 'Où êtes-vous ? L’été dernier, à Évreux, des élèves âgés ont créé « l’œuvre » où régnait la naïveté. '],
    ['French in capitals', 'L’ÉTÉ À ÉVREUX : DES ÉLÈVES ÂGÉS ONT CRÉÉ UNE ŒUVRE. ÇA, OÙ ? '],
    ['German', 'Müßiggänger üben Größe: Äpfel, Öl, Übermut – „Füße“ über Straßen, höher, schöner. '],
    ['Icelandic', 'Það er öllum þörf á að þýða þessa óþægð; æðið og ægir þó, ýmsir áttu ær í Öræfum. '],
    [
      'Polish in windows-1250, of which a half can be read',
      'Za¿ó³æ gêœl¹ jaŸñ, ŸdŸb³o, ³ódŸ, ¿ó³w, œwie¿oœæ, pójdŸ, ¿e oœæ. ',
    ],
    ['Portuguese', 'Não há opções: você é avó, irmã, órgão, ação, coração, três, às. '],
    ['a frame of dashes and bullets', `${'—'.repeat(70)}\n••• •••• ••••• ··········\n${'¯'.repeat(70)}\n`],
    ['a table of characters', 'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ'],
    ['accents alone', 'éèàù üöä ßÄÖ'],
    ['quotes within quotes', '„Er sagt ‚Übung‘, ‚Öl‘, ‚Ähre‘, ‚Ärger‘“'],
    ['quotes of no other accents', '‚Übung, ‚Öl, ‚Ähre und Brot'],
    ['florin signs', 'ƒA ƒB ƒC ƒ(x) ƒ100 ƒ50'],
  ];
  for (const [what, text] of cases) {
    for (const times of [1, what.startsWith('a table') ? 1 : 50]) {
      const whole = text.repeat(times);
      test(`${what}, ${times} times`, () => assert.equal(decodeText(western(whole)), whole));
    }
  }

  test('what says itself that it is', () => {
    const declared = Buffer.concat([Buffer.from('<meta charset="latin1">'), western('ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑ'.repeat(20))]);
    assert.match(decodeText(declared), /ÀÁÂ/);
  });

  test('a program with comments in another language', () => {
    const line = 'const answer = question.split(separator).join(other); // ';
    const comment = Buffer.from('yu7j5OAg7vLq8O7l8vH/', 'base64');
    const bytes = Buffer.concat(
      Array.from({ length: 20 }, () => [Buffer.from(line), comment, Buffer.from('\n')]).flat(),
    );
    assert.match(decodeText(bytes), /^const answer/);
  });
});
