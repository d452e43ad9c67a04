import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { text, zip } from '../../test/fixtures/documents/hostile.ts';
import { type Conversion, type ConversionLimits, DEFAULT_LIMITS, openBudget } from './conversion.ts';
import { convertFile } from './convert-file.ts';
import { INSTALLED } from './libraries.ts';

function convert(
  mail: string | Uint8Array,
  limits: Partial<ConversionLimits> = {},
  name = 'a.eml',
): Promise<Conversion> {
  const workshop = {
    libraries: INSTALLED,
    budget: openBudget({ ...DEFAULT_LIMITS, ...limits }),
    onProgress() {},
    onFault() {},
  };
  return convertFile({ name, bytes: typeof mail === 'string' ? Buffer.from(mail, 'latin1') : mail }, workshop);
}

/** The markdown of a message. */
async function read(mail: string): Promise<string> {
  const conversion = await convert(mail);
  assert.equal(conversion.kind, 'markdown', JSON.stringify(conversion));
  return (conversion as { text: string }).text;
}

/** A message of several parts, each with its headers and its body. */
function mixed(...parts: readonly string[]): string {
  return `Subject: a\nContent-Type: multipart/mixed; boundary=b\n\n${parts.map((part) => `--b\n${part}\n`).join('')}--b--\n`;
}

/** An attachment in base64. */
function attachment(name: string, bytes: Uint8Array | string, type = 'application/octet-stream'): string {
  const lines = Buffer.from(bytes).toString('base64');
  return `Content-Type: ${type}\nContent-Disposition: attachment; filename="${name}"\nContent-Transfer-Encoding: base64\n\n${lines}`;
}

/** Letters by their bytes in an encoding that is not Western. */
const KOI8 = new Map(
  Array.from({ length: 128 }, (_, index) => [new TextDecoder('koi8-r').decode(Buffer.of(index + 128)), index + 128]),
);

describe('messages', () => {
  test('without a body', async () => {
    const conversion = await convert('Subject: =?koi8-r?B?zcnS?=\nTo: Team: a@b.c, d <e@f.g>;\n\n');
    assert.deepEqual(conversion, { kind: 'markdown', text: '# мир\n\n- To: Team: a@b.c, d <e@f.g>\n', title: 'мир' });
  });

  test('of HTML alone, and of HTML that is refused', async () => {
    const page = 'Subject: a\nContent-Type: text/html; charset=windows-1251\n\n';
    assert.equal(await read(`${page}<p><b>\xec\xe8\xf0</b><script>x</script>`), '# a\n\n**мир**\n');
    assert.match(await read(page + '<div>'.repeat(1_000)), /\*\(text\/html: is nested deeper than 512 levels\)\*/);
  });

  test('in an encoding that nobody knows, in one that is not theirs, with zeros', async () => {
    assert.equal(await read('Subject: a\nContent-Type: text/plain; charset=klingon\n\nZ\xfcrich'), '# a\n\nZürich\n');
    assert.equal(
      await read('Subject: a\nContent-Type: text/plain; charset=utf-8\n\nZ\xfcr\0ich'),
      '# a\n\nZ\ufffdrich\n',
    );
    assert.equal(await read('Subject: =?x?B?####?= =?utf-8?Q?=ZZ?=\n\na'), '# =ZZ\n\na\n');
  });

  test('in no encoding that is said: in UTF-8, or else in Windows-1252, however they are packed', async () => {
    const umlauts = 'Z\xfcrich, \x80 5';
    assert.equal(
      await read(`From: J\xfcrgen <a@b.c>\nSubject: Gr\xfc\xdfe\n\n${umlauts}`),
      '# Grüße\n\n- From: Jürgen <a@b.c>\n\nZürich, € 5\n',
    );
    assert.equal(
      await read(`Subject: a\r\nContent-Type: text/plain;\r\n format=flowed\r\n\r\n${umlauts}`),
      '# a\n\nZürich, € 5\n',
    );
    const packed = 'Subject: a\nContent-Type: text/plain\nContent-Transfer-Encoding: ';
    assert.equal(await read(`${packed}quoted-printable\n\nZ=FCr=\nich, =80 5`), '# a\n\nZürich, € 5\n');
    assert.equal(
      await read(`${packed}base64\n\n${Buffer.from(umlauts, 'latin1').toString('base64')}`),
      '# a\n\nZürich, € 5\n',
    );
    const page = '<html><head><meta charset="windows-1251"></head><body>\xcc\xe8\xf0';
    assert.equal(await read(`Subject: a\nContent-Type: text/html\n\n${page}`), '# a\n\nМир\n');
    // Each part by itself; what says its encoding is believed.
    const parts = mixed(
      'Content-Type: text/plain\n\nin UTF-8: \xc3\xbc\n-- \nBob',
      '\nin none: \xfc\n-- \nBob \xfc',
      'Content-Type: text/plain; charset=utf-8\n\nwrong: \xfc',
    );
    assert.match(await read(parts), /in UTF-8: ü\n--\nBob\n+in none: ü\n--\nBob ü\n+wrong: \ufffd/);
    const russian = 'Когда откроется причал номер семь? Мы ждём ответа уже третью неделю, и корабль стоит в порту.';
    const koi8 = Buffer.from([...russian].map((letter) => KOI8.get(letter) ?? letter.charCodeAt(0))).toString('latin1');
    assert.match(await read(`Subject: a\n\n${koi8}`), /\ufffd/);
  });

  test('attachments become what files of their kind become, or are named', async () => {
    const told = await read(
      mixed(
        'Content-Type: text/plain\n\nHello',
        attachment('a.csv', 'a,b', 'application/vnd.ms-excel'),
        attachment('page', '<p>text', 'text/html'),
        attachment('photo.png', 'no picture', 'image/png'),
        attachment('setup.exe', 'MZ'),
        attachment('all.zip', zip([text('in.txt', 'inside'), text('in.zip', 'x')])),
        'Content-Type: text/calendar\n\nBEGIN:VCALENDAR',
      ),
    );
    const [, ...parts] = told.split('\n## ');
    assert.deepEqual(
      parts.map((part) => part.trim()),
      [
        'a.csv\n\n| a | b |\n| --- | --- |',
        'page\n\ntext',
        'photo.png\n\n*(image/png)*',
        'setup.exe\n\n*(application/octet-stream: has a type that is not supported: .exe)*',
        'all.zip',
        'in.txt\n\ninside\n\n*(in.zip: is an archive inside an archive)*',
        'text/calendar\n\nBEGIN:VCALENDAR',
      ],
    );
  });

  test('names of attachments lead nowhere, hide nothing and stay on their line', async () => {
    const names = ['../../etc/a.txt', 'C:\\up\\b.txt', '=?utf-8?Q?c=0A=23_=E2=80=AEd.txt?=', `${'e'.repeat(999)}.txt`];
    const told = await read(mixed(...names.map((name) => attachment(name, 'text').replace(/\\/g, '\\\\'))));
    const headings = told.split('\n').filter((line) => line.startsWith('#'));
    assert.deepEqual(headings, ['# a', '## a.txt', '## b.txt', '## c # d.txt', `## ${'e'.repeat(196)}.txt`]);
  });

  test('messages inside of messages, five of them', async () => {
    let mail = 'Subject: 7\n\nthe last';
    for (let number = 6; number > 0; number -= 1)
      mail = `Subject: ${number}\nContent-Type: message/rfc822\nContent-Disposition: attachment; filename=old.txt\n\n${mail}`;
    const told = await read(mail);
    assert.deepEqual(told.match(/^# .*$/gm), ['# 1', '# 2', '# 3', '# 4', '# 5']);
    assert.match(told, /## old\.txt\n\n\*\(message\/rfc822: is a message inside of 5 others\)\*\n$/);
  });

  test('text that is no message stays text, whatever it is called', async () => {
    assert.deepEqual(await convert('hello: there'), { kind: 'text', text: 'hello: there' });
  });

  test('what is in an archive brings no other archive along', async () => {
    const mail = mixed(attachment('b.zip', zip([text('b.txt', 'b')])));
    const conversion = await convert(zip([text('a.eml', mail)]), {}, 'a.zip');
    assert.equal(conversion.kind, 'archive');
    assert.match(JSON.stringify(conversion), /b\.zip.*is an archive inside an archive/);
  });
});

describe('limits of messages', () => {
  test('the text of parts counts once, and all of it', async () => {
    const mail = mixed(attachment('a.txt', 'a'.repeat(60)), attachment('b.txt', 'b'.repeat(60)));
    assert.equal((await convert(mail, { unpackedBytes: 170 })).kind, 'markdown');
    assert.deepEqual(await convert(mail, { unpackedBytes: 140 }), {
      kind: 'rejected',
      reason: 'becomes more than 140 bytes of text',
      isOverLimit: true,
    });
  });

  test('attachments are counted', async () => {
    const mail = mixed(...Array.from({ length: 3 }, () => attachment('a.txt', 'a')));
    assert.equal((await convert(mail, { entries: 3 })).kind, 'markdown');
    assert.match(JSON.stringify(await convert(mail, { entries: 2 })), /holds 3 files; at most 2 are converted/);
  });
});
