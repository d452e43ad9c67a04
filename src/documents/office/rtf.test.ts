import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Conversion, DEFAULT_LIMITS, openBudget } from '../conversion.ts';
import { convertFile } from '../convert-file.ts';
import { INSTALLED } from '../libraries.ts';
import { repairRtf } from './rtf.ts';

function convert(rtf: string, name = 'a.rtf'): Promise<Conversion> {
  const workshop = { libraries: INSTALLED, budget: openBudget(DEFAULT_LIMITS), onProgress() {}, onFault() {} };
  return convertFile({ name, bytes: Buffer.from(rtf, 'latin1') }, workshop);
}

async function read(...body: string[]): Promise<string> {
  const fonts = String.raw`{\fonttbl{\f0\fswiss Arial;}{\f1\fnil\fcharset204 Arial CYR;}{\f2\fnil\fcharset128 MS Mincho;}}`;
  const head = String.raw`{\rtf1\ansi\ansicpg1252\deff0${fonts}{\colortbl;\red255\green0\blue0;}{\stylesheet{\s0 Normal;}{\s1 heading 1;}}{\*\generator Riched20;}`;
  const conversion = await convert(`${head}\r\n${body.join('\r\n')}}`);
  assert.equal(conversion.kind, 'markdown', JSON.stringify(conversion));
  return (conversion as { text: string }).text;
}

describe('rich text', () => {
  test('paragraphs, headings, tables, links and notes', async () => {
    const text = await read(
      String.raw`{\info{\title Not text}{\author Anna}}\pard\s1\b Report\b0\par`,
      String.raw`\pard\plain A {\b bold} word\line and\tab a tab{\footnote A note}.\par`,
      String.raw`{\field{\*\fldinst{HYPERLINK "https://example.org/a"}}{\fldrslt quays}}\par`,
      String.raw`\trowd\cellx1000\cellx2000\intbl Name\cell Price\cell\row`,
      String.raw`\trowd\cellx1000\cellx2000\intbl Rope\cell 5.00\cell\row\pard`,
      String.raw`{\pict\pngblip 89504e470d0a1a0a}{\header head}{\footer foot}end\par`,
    );
    assert.equal(
      text,
      '# Report\n\nA **bold** word\nand\ta tab[^1].\n\n[quays](https://example.org/a)\n\n' +
        '| Name | Price |\n| --- | --- |\n| Rope | 5.00 |\n\nend\n\n[^1]: A note\n',
    );
  });

  test('its title is what it says about itself', async () => {
    const title = async (info: string, codePage = 1252): Promise<unknown> => {
      const made = await convert(String.raw`{\rtf1\ansi\ansicpg${codePage}{\info ${info}}text\par}`);
      return (made as { title?: string }).title;
    };
    const given = String.raw`{\author Anna}{\title Gr\'fc\'dfe \u26481? of \{1\}}`;
    assert.equal(await title(given), 'Grüße 東 of {1}');
    assert.equal(await title(String.raw`{\title \'a4\'a4\'a4\'e5 \u-10179?\u-8704?}`, 950), '中文 😀');
    assert.equal(await title(String.raw`{\author Anna}`), undefined);
    assert.equal(await title(String.raw`{\title  }`), undefined);
  });

  test('in the code pages of its fonts, in Unicode with what stands for it, with signs', async () => {
    const text = await read(
      String.raw`Z\'fcrich \'80 5 {\f1 \'cc\'e8\'f0} {\f2 \'93\'fa\'96\'7b} \uc2\u26085\'93\'fa \uc1\u-10179?\u-8704?`,
      String.raw` A\~B C\_D E\-F \{G\} H\\~I \emdash\bullet\par`,
      String.raw`J\emspace K\enspace L\endash M\par`,
    );
    assert.equal(text, 'Zürich € 5 Мир 日本 日 😀 A B C-D EF {G} H\\\\\\~I —•\n\nJ K L–M\n');
  });

  test('without what was deleted or hidden', async () => {
    const text = await read(
      String.raw`kept{\deleted  gone \u8364? \'fc} {\v hidden{\b too}}{\revised added}\v hidden\v0  shown{\v{\v0 back}}\par`,
      String.raw`{\v hidden\plain\f0  plain}\par`,
    );
    assert.equal(text, 'kept added shownback\n\nplain\n');
  });

  test('without what groups within deleted text hold, and as bold as was said there', async () => {
    const text = await read(String.raw`a{\deleted one\tab{\b two} three}b \v four\b\v0 five\par`);
    assert.equal(text, 'ab **five**\n');
  });

  test('comments are notes, with who wrote them', async () => {
    const text = await read(
      String.raw`quay{\*\atnauthor Left over}{\*\atnid AS}{\*\atnauthor Anna S\'fc\'df}\chatn{\*\annotation{\*\atndate 5}\pard Which {\b one}?\par} seven`,
      String.raw`{\*\annotation Nobody}.\par`,
    );
    assert.equal(text, 'quay[^1] seven[^2].\n\n[^1]: Comment by Anna Süß: Which **one**?\n\n[^2]: Comment: Nobody\n');
  });

  test('the bytes of a picture are no text, braces or not', async () => {
    assert.equal(await read(String.raw`a{\pict\bin6 }}{{\b}b{\pict\bin999999999 x}`), 'ab\n');
  });

  test('whatever is wrong with it ends soon', async () => {
    assert.deepEqual(await convert('no rtf'), {
      kind: 'rejected',
      reason: 'is not rich text, though its name says so',
    });
    assert.deepEqual(await convert(String.raw`{\rtf1\ansi{\*\x y}}`), {
      kind: 'rejected',
      reason: 'has no text in it',
    });
    assert.deepEqual(await convert(`{\\rtf1 ${'{'.repeat(1_000_000)}`), {
      kind: 'rejected',
      reason: 'is nested too deeply',
    });
    // No number of bytes; to go back by it would be to read for ever.
    assert.equal(repairRtf(String.raw`{\rtf1 a{\pict\bin-50 x}b}`), String.raw`{\rtf1 a{\pictx}b}`);
    assert.equal(await read(`{\\b half${'}'.repeat(1_000)} \\uc999999999 `), '**half**\n');
    assert.equal(
      await read(`\\b${'9'.repeat(100_000)}${'\\'.repeat(99_999)}{\\v`).then((text) => typeof text),
      'string',
    );
  });
});
