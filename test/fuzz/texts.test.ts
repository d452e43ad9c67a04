import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';
import ipaddr from 'ipaddr.js';
import { cleanName } from '../../src/buckets/names.ts';
import { fillIn, interpolate } from '../../src/config/interpolate.ts';
import { parseCookies } from '../../src/cookies/parse.ts';
import type { Batch, Chunk } from '../../src/core/chunk.ts';
import { SluiceError } from '../../src/core/errors.ts';
import { Refusal } from '../../src/documents/conversion.ts';
import { csvToMarkdown, parseCsv } from '../../src/documents/csv.ts';
import { htmlToMarkdown } from '../../src/documents/html.ts';
import { notebookToMarkdown } from '../../src/documents/notebook.ts';
import { decodeText } from '../../src/documents/text.ts';
import { decodeEntities, readXml } from '../../src/documents/xml.ts';
import { splitThinking } from '../../src/enrich/think-tags.ts';
import { fencedBlock } from '../../src/http/backend/markdown.ts';
import { parseId } from '../../src/http/edge/body.ts';
import { mediaName, readMediaName, slugOf } from '../../src/media/names.ts';
import { canonical, isPublicAddress, toWebAddress } from '../../src/outbound/address.ts';
import { ToolCalls } from '../../src/providers/openai/tool-calls.ts';
import { rangeWithin } from '../../src/stores/byte-range.ts';
import { segmentsOf } from '../../src/stores/file-path.ts';
import { property } from './cases.ts';
import type { Random } from './random.ts';
import { anything, hostile } from './schema-values.ts';

describe('names and paths', () => {
  test('an id is letters, digits, _ and -, or refused', async () => {
    await property(1_000, (random) => {
      const text = random.chance(0.3)
        ? random.many(random.between(1, 70), () => random.pick([...'aZ09_-'])).join('')
        : random.text();
      const id = orRefusal(() => parseId(text, 'id'));
      if (id === undefined) return;
      assert.equal(id, text);
      assert.match(id, /^[A-Za-z0-9_-]{1,64}$/);
    });
  });

  test('a stored path stays within its folder, or is refused', async () => {
    await property(1_000, (random) => {
      const text = random
        .many(random.between(1, 6), () => random.pick(['a', 'b.txt', '..', '.', '', 'c_1', random.text(3)]))
        .join(random.pick(['/', '\\', '%2f']));
      const segments = orRefusal(() => segmentsOf(text));
      if (segments === undefined) return;
      assert.equal(segments.join('/'), text);
      const place = path.resolve('/srv/files', text);
      assert.equal(place, `/srv/files/${text}`);
    });
  });

  test('the name of an upload or of kept media is one harmless segment', async () => {
    await property(1_000, (random) => {
      const given = random.text(30);
      const name = cleanName(given);
      if (name !== undefined) {
        assert.doesNotMatch(name, /[/\\\0\r\n"<>:|?*%]|^\.|^$/);
        assert.ok(Buffer.byteLength(name) <= 100, name);
      }
      assert.match(slugOf(given), /^([A-Za-z0-9_]([\w.,+-]*[A-Za-z0-9])?)?$/);
      const medium = mediaName(1_700_000_000, { alt: given, tags: [random.text(3)] }, 'ab'.repeat(32), 'png');
      assert.deepEqual(
        orRefusal(() => segmentsOf(medium)),
        [medium],
      );
      assert.deepEqual(readMediaName(medium), { seconds: 1_700_000_000, hash: 'ab'.repeat(8) });
    });
  });

  test('a range lies within its file, or is refused', async () => {
    await property(1_000, (random) => {
      const number = (): number => random.pick([0, 1, 5, 9, 10, 11, -1, 2 ** 53, 0.5, Number.NaN, random.below(20)]);
      const size = random.below(12);
      const range = orRefusal(() => rangeWithin({ start: number(), end: number() }, size));
      if (range === undefined) return;
      assert.ok(range.start >= 0 && range.end < size && range.start <= range.end);
    });
  });
});

/** Networks that are nobody's on the public Internet (RFC 6890 and IANA's registries), beside what ipaddr.js knows. */
const INNER: readonly string[] = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...[
    '192.0.2.0/24',
    '192.168.0.0/16',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/4',
    '240.0.0.0/4',
  ],
];
const NETWORKS = INNER.map((each) => ipaddr.IPv4.parseCIDR(each));

describe('addresses', () => {
  test('in any spelling are judged by what they mean', async () => {
    await property(2_000, (random) => {
      const bytes = random.many(4, () =>
        random.pick([0, 1, 10, 100, 127, 169, 172, 192, 198, 254, 255, random.below(256)]),
      );
      const address = new ipaddr.IPv4(bytes);
      const isInner = NETWORKS.some((network) => address.match(network));
      for (const spelling of spellingsOf(bytes, random)) {
        const url = toWebAddress(`http://${spelling}/`);
        assert.ok(url !== undefined, spelling);
        const host = url.hostname.replace(/^\[|\]$/g, '');
        if (isInner) assert.equal(isPublicAddress(host), false, `${spelling} → ${host}`);
        assert.equal(isPublicAddress(host), isPublicAddress(canonical(host)), spelling);
      }
      if (!isInner && address.range() === 'unicast')
        assert.equal(isPublicAddress(bytes.join('.')), true, bytes.join('.'));
    });
  });

  test('of version 6 that embed or tunnel inner ones are not public', async () => {
    await property(1_000, (random) => {
      const [a = 0, b = 0, c = 0, d = 0] = random.pick([
        [127, 0, 0, 1],
        [10, 1, 2, 3],
        [169, 254, 169, 254],
        [192, 168, 0, 1],
        [0, 0, 0, 0],
      ]);
      const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
      const text = random.pick([
        `::ffff:${a}.${b}.${c}.${d}`,
        `::ffff:${hex}`,
        `64:ff9b::${hex}`,
        `2002:${hex}::1`,
        `::${hex}`,
        `2001:0:${hex}::1`,
        `fe80::${hex}`,
        `fc00::${hex}`,
        `ff02::${hex}`,
        `fe80::1%eth0`,
      ]);
      assert.equal(isPublicAddress(text), false, text);
    });
  });

  test('of any text are http without credentials, or none', async () => {
    await property(1_000, (random) => {
      const text = random.chance(0.5) ? `http${random.pick(['', 's'])}:${random.text()}` : textOf(hostile(random));
      const url = toWebAddress(text);
      if (url === undefined) return;
      assert.match(url.protocol, /^https?:$/);
      assert.equal(url.username + url.password, '');
      assert.equal(isPublicAddress(text), isPublicAddress(text));
    });
  });
});

/** The ways to write an IPv4 address that the WHATWG's parser of addresses knows. */
function spellingsOf(bytes: readonly number[], random: Random): readonly string[] {
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const whole = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
  const part = (value: number): string =>
    random.pick([
      `${value}`,
      `0x${value.toString(16)}`,
      `0${value.toString(8)}`,
      `0X${value.toString(16).toUpperCase()}`,
    ]);
  return [
    bytes.join('.'),
    bytes.map(part).join('.'),
    part(whole),
    `${part(a)}.${part((b << 16) | (c << 8) | d)}`,
    `${part(a)}.${part(b)}.${part((c << 8) | d)}`,
    `${bytes.join('.')}.`,
    `[::ffff:${bytes.join('.')}]`,
    `[::ffff:${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}]`,
    bytes
      .join('.')
      .replace(/[0-9]/g, (digit) => (random.chance(0.2) ? String.fromCodePoint(0xff10 + Number(digit)) : digit)),
  ];
}

describe('files of cookies', () => {
  test('are cookies that can stand in a header, or refused without a word of theirs', async () => {
    await property(1_500, (random) => {
      const text = cookieFile(random);
      try {
        for (const { domain, name, value, path: at } of parseCookies(text).cookies) {
          assert.match(domain, /^[a-z0-9.-]{1,253}$/);
          assert.match(`${name}=${value}`, /^[\x21-\x7e][\x20-\x7e]*$/);
          assert.doesNotMatch(name, /[=;, ]/);
          assert.doesNotMatch(value + at, /;/);
          assert.ok(at.startsWith('/'));
        }
      } catch (error) {
        assertRefusal(error);
        assert.doesNotMatch((error as Error).message, /s3cret/);
      }
    });
  });
});

function cookieFile(random: Random): string {
  const word = (): unknown =>
    random.pick<unknown>(['a.example', '.b.example', 'sid', 's3cret', '/', random.text(3), hostile(random)]);
  const entry = (): object => ({
    domain: word(),
    name: word(),
    value: random.pick(['s3cret', word()]),
    path: word(),
    secure: word(),
    expirationDate: word(),
  });
  switch (random.below(5)) {
    case 0:
      return JSON.stringify(random.many(random.below(4), entry)) ?? '';
    case 1:
      return JSON.stringify({
        log: {
          entries: random.many(2, () => ({
            request: {
              url: random.pick(['https://a.example/', word()]),
              cookies: random.pick<unknown>([[entry()], [null], word()]),
            },
          })),
        },
      });
    case 2:
      return random
        .many(random.below(4), () =>
          random.many(random.pick([7, 7, 6, 8]), () => textOf(word()).replace(/[\t\n]/g, '')).join('\t'),
        )
        .join(random.pick(['\n', '\r\n']));
    case 3:
      return JSON.stringify(anything(random)) ?? '';
    default:
      return `${random.pick(['[', '{', '\ufeff[', '#HttpOnly_', ''])}s3cret${random.text(20)}`;
  }
}

describe('what models write', () => {
  test('think tags are found in the same places, however the answer is split', async () => {
    await property(1_000, async (random) => {
      const text = random
        .many(random.below(9), () => random.pick(['<think>', '</think>', '<thi', '\n', ' ', 'a', '<', random.text(3)]))
        .join('');
      const whole = await thought([text]);
      assert.deepEqual(await thought(random.split(text)), whole, JSON.stringify(text));
      const letters = (each: string): string => each.replace(/<\/?think>|\s/g, '');
      assert.equal(letters(whole.reasoning + whole.content), letters(text), JSON.stringify(text));
    });
  });

  test('pieces of tool calls become calls with their own place and id', async () => {
    await property(1_000, (random) => {
      const calls = new ToolCalls();
      const ids = new Map<number, string>();
      for (let left = random.below(8); left > 0; left -= 1) {
        const entries = random.many(random.below(3), () =>
          random.pick<unknown>([
            hostile(random),
            {
              index: random.below(3),
              id: random.pick(['a', 'b', undefined]),
              function: { name: random.pick(['f', undefined]), arguments: random.pick<unknown>(['{', {}, null]) },
            },
          ]),
        );
        for (const { index, id, arguments: written } of calls.read(entries)) {
          assert.ok(Number.isInteger(index));
          assert.equal(typeof written, 'string');
          if (id !== undefined && !ids.has(index)) ids.set(index, id);
          assert.ok(ids.has(index), 'a call begins with its id');
          if (id !== undefined) assert.equal(id, ids.get(index));
        }
      }
    });
  });

  test('a fenced block is a run of lines of the text', async () => {
    await property(1_000, (random) => {
      const text = random
        .many(random.below(9), () => random.pick(['```', '~~~', '```js', '````', '   ```', 'a', '', random.text(4)]))
        .join('\n');
      const languages = random.pick([undefined, ['js'], ['', 'py']]);
      const block = fencedBlock(text, languages);
      assert.ok(`\n${text}\n`.includes(block === '' ? '' : `\n${block}\n`) || block === text, JSON.stringify(text));
    });
  });
});

async function thought(pieces: readonly string[]): Promise<{ readonly content: string; readonly reasoning: string }> {
  async function* batches(): AsyncIterable<Batch> {
    for (const content of pieces) yield [{ type: 'content', content }];
    yield [{ type: 'finish', finish: 'stop' } as Chunk];
  }
  let content = '';
  let reasoning = '';
  for await (const batch of splitThinking(batches())) {
    for (const chunk of batch) {
      if (chunk.type === 'content') content += chunk.content;
      if (chunk.type === 'reasoning') reasoning += chunk.reasoning;
    }
  }
  return { content, reasoning };
}

describe('documents of text', () => {
  const converters: Readonly<Record<string, (text: string) => unknown>> = {
    csv: csvToMarkdown,
    html: (text) => htmlToMarkdown(text).text,
    notebook: notebookToMarkdown,
    xml: (text) => readXml(text, { open: () => {}, text: () => {} }),
    bytes: (text) => decodeText(Buffer.from(text, 'latin1')),
  };
  for (const [name, convert] of Object.entries(converters)) {
    test(`${name}: is text or a refusal`, async () => {
      await property(name === 'html' ? 60 : 400, (random) => {
        const text = random.many(random.below(14), () => random.pick([...MARKUP, random.text(4)])).join('');
        orRefusal(() => convert(text));
      });
    });
  }

  test('an entity that has the name of something else of an object stays as written', () => {
    assert.equal(decodeEntities('&toString;&valueOf;&amp;'), '&toString;&valueOf;&');
  });

  test('cells of CSV come back as they were written', async () => {
    await property(1_000, (random) => {
      const rows = random.many(random.between(1, 4), () => random.many(2, () => random.text(4).replaceAll('\0', '')));
      const text = rows.map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\n');
      assert.deepEqual(parseCsv(text, ','), rows);
    });
  });
});

const MARKUP: readonly string[] = [
  ...[
    '<p>',
    '</p>',
    '<table>',
    '<tr>',
    '<td colspan="9e9">',
    '<a href="javascript:x">',
    '<script>',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
  ],
  ...[
    '&amp;',
    '&#0;',
    '&#x110000;',
    '&#xd800;',
    '&nope;',
    '<?xml',
    '?>',
    '<!DOCTYPE a [',
    '<!ENTITY a "b">',
    '{"cells":[',
    '{"cell_type":"code","source":',
    ']}',
    'null',
  ],
  ...[
    '"',
    ',',
    '\n',
    '\r\n',
    '\t',
    ';',
    '|',
    '\ufeff',
    '<li>',
    '<pre><code>',
    '</code>',
    '<img src=x alt="]">',
    '<h9>',
    '< >',
    '</',
  ],
];

function ref(name: string): string {
  return `\${${name}}`;
}

describe('configuration', () => {
  test('a variable that has the name of something else of an object is not set', () => {
    const problems: string[] = [];
    for (const name of ['toString', 'constructor', '__proto__'])
      fillIn(ref(name), {}, (problem) => problems.push(problem));
    assert.equal(problems.length, 3);
    for (const problem of problems) assert.match(problem, /is not set/);
  });

  test('variables are filled in once, and nothing else is touched', async () => {
    await property(1_000, (random) => {
      const environment = { A: random.text(3), B: ref('A'), EMPTY: '' };
      const text = random
        .many(random.below(6), () =>
          random.pick([
            ref('A'),
            ref('B'),
            ref('C'),
            ref('EMPTY'),
            '$'.concat('{'),
            '}',
            ref('a b'),
            '$A',
            random.text(2),
          ]),
        )
        .join('');
      const problems: string[] = [];
      const filled = fillIn(text, environment, (problem) => problems.push(problem));
      if (!/\$\{/.test(text)) assert.equal(filled, text);
      for (const problem of problems) assert.notEqual(problem, '');
      const tree = anything(random);
      assert.deepEqual(interpolate(JSON.parse(JSON.stringify(tree).replaceAll('$', '')), environment).unresolved, []);
    });
  });
});

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function orRefusal<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    assertRefusal(error);
    return undefined;
  }
}

function assertRefusal(error: unknown): void {
  const isRefusal = error instanceof Refusal || (error instanceof SluiceError && error.status < 500);
  if (!isRefusal) throw error;
}
