import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MediaPart, Message, Part } from '../../core/chat.ts';
import { SluiceError } from '../../core/errors.ts';
import { type PromptContext, toPrompt } from './prompt.ts';

const context: PromptContext = {
  label: 'Acme',
  supportedUrls: { 'image/*': [/^https:\/\//], 'application/pdf': [/^https:\/\/docs\.example\//] },
  recall: () => undefined,
};

const text = (value: string): Part => ({ type: 'text', text: value });
const thought = (value: string): Part => ({ type: 'reasoning', text: value });
const user = (...content: Part[]): Message => ({ role: 'user', content });
const assistant = (...content: Part[]): Message => ({ role: 'assistant', content });

describe('toPrompt', () => {
  test('system and developer messages become one, in front', () => {
    const prompt = toPrompt(
      [
        { role: 'system', content: [text('Be brief.')] },
        user(text('Hi')),
        { role: 'developer', content: [text('Be kind.'), text(' ')] },
      ],
      context,
    );
    assert.deepEqual(prompt, [
      { role: 'system', content: 'Be brief.\n\nBe kind.' },
      { role: 'user', content: [text('Hi')] },
    ]);
  });

  test('instructions alone are asked', () => {
    const prompt = toPrompt([{ role: 'system', content: [text('Say hello.')] }], context);
    assert.deepEqual(prompt, [{ role: 'user', content: [text('Say hello.')] }]);
  });

  test('empty messages go, and what they parted is joined', () => {
    const prompt = toPrompt([user(text('a')), assistant(text('')), user(), user(text('b'), text('\n'))], context);
    assert.deepEqual(prompt, [{ role: 'user', content: [text('a'), text('b')] }]);
  });

  test('a message of white space keeps its place', () => {
    const said = (...messages: Message[]) =>
      toPrompt(messages, context).map(({ role, content }) => [role, (content as { text: string }[])[0]?.text]);
    const blank = ['user', '(a blank message)'];
    assert.deepEqual(said(user(text(' \n'))), [blank]);
    assert.deepEqual(said(user(text('a')), assistant(text('b')), user(text(' '))), [
      ['user', 'a'],
      ['assistant', 'b'],
      blank,
    ]);
    assert.deepEqual(said(user(text('a')), assistant(text('b')), user()).at(-1), blank);
    assert.deepEqual(said(user(text('\n')), assistant(text('b')), user(text('c'))), [
      blank,
      ['assistant', 'b'],
      ['user', 'c'],
    ]);
    assert.deepEqual(said({ role: 'system', content: [text('Be brief.')] }, user(text(' '))).at(-1), blank);
  });

  test('thoughts alone are no message', () => {
    const prompt = toPrompt([user(text('a')), { role: 'assistant', content: [thought('hm')] }], context);
    assert.deepEqual(
      prompt.map(({ role }) => role),
      ['user'],
    );
  });

  test('calls, their results and their names', () => {
    const prompt = toPrompt(
      [
        user(text('Go')),
        {
          role: 'assistant',
          content: [thought('hm'), text('Wait.')],
          toolCalls: [
            { id: '1', name: 'look', arguments: '{"a":[1]}' },
            { id: '2', name: 'wait', arguments: '' },
            { id: '3', name: 'bad', arguments: '[1]' },
          ],
        },
        { role: 'tool', toolCallId: '2', content: [text('waited')] },
        { role: 'tool', toolCallId: '1', content: [] },
        { role: 'tool', toolCallId: 'of nobody', content: [text('?')] },
      ],
      context,
    );
    assert.deepEqual(prompt.slice(1), [
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm' },
          text('Wait.'),
          { type: 'tool-call', toolCallId: '1', toolName: 'look', input: { a: [1] } },
          { type: 'tool-call', toolCallId: '2', toolName: 'wait', input: {} },
          { type: 'tool-call', toolCallId: '3', toolName: 'bad', input: { rawInvalidInput: '[1]' } },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: '2', toolName: 'wait', output: { type: 'text', value: 'waited' } },
          { type: 'tool-result', toolCallId: '1', toolName: 'look', output: { type: 'text', value: '' } },
          { type: 'tool-result', toolCallId: 'of nobody', toolName: 'unknown', output: { type: 'text', value: '?' } },
        ],
      },
    ]);
  });

  test('results of calls that have one id come in the order of these', () => {
    const calls = (...names: string[]): Message => ({
      role: 'assistant',
      content: [],
      toolCalls: names.map((name) => ({ id: 'call', name, arguments: '' })),
    });
    const result: Message = { role: 'tool', toolCallId: 'call', content: [] };
    const prompt = toPrompt([calls('look', 'wait'), result, result, result, calls('go'), result], context);
    const names = prompt.flatMap(({ role, content }) =>
      role === 'tool' ? content.map((part) => 'toolName' in part && part.toolName) : [],
    );
    assert.deepEqual(names, ['look', 'wait', 'wait', 'go']);
  });

  test('signed thoughts take the place of those the client kept', () => {
    const signed = { type: 'reasoning' as const, text: 'signed', providerOptions: { acme: { signature: 's' } } };
    const prompt = toPrompt(
      [{ role: 'assistant', content: [thought('kept')], toolCalls: [{ id: '1', name: 'f', arguments: '{}' }] }],
      {
        ...context,
        recall: (id) => (id === '1' ? { reasoning: [signed], callOptions: { acme: { own: 1 } } } : undefined),
      },
    );
    assert.deepEqual(prompt[0]?.content, [
      signed,
      { type: 'tool-call', toolCallId: '1', toolName: 'f', input: {}, providerOptions: { acme: { own: 1 } } },
    ]);
  });

  test('a result with an image is content', () => {
    const image: MediaPart = { type: 'media', kind: 'image', url: 'data:image/png;base64,AAAA' };
    const [message] = toPrompt([{ role: 'tool', toolCallId: '1', content: [text('Look:'), image] }], context);
    assert.deepEqual(message?.content, [
      {
        type: 'tool-result',
        toolCallId: '1',
        toolName: 'unknown',
        output: {
          type: 'content',
          value: [text('Look:'), { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } }],
        },
      },
    ]);
  });
});

describe('media', () => {
  const cases: [string, Omit<MediaPart, 'type'>, object][] = [
    [
      'inline image, a misspelt type',
      { kind: 'image', url: 'data:image/jpg;base64,AAAA' },
      { mediaType: 'image/jpeg', data: { type: 'data', data: 'AAAA' } },
    ],
    [
      'inline audio with parameters and a name',
      { kind: 'audio', url: 'data:audio/webm;codecs=opus;base64,AAAA', name: 'a.webm' },
      { filename: 'a.webm', mediaType: 'audio/webm', data: { type: 'data', data: 'AAAA' } },
    ],
    [
      'inline media without a type',
      { kind: 'image', url: 'data:;base64,AAAA', mimeType: 'image/gif' },
      { mediaType: 'image/gif', data: { type: 'data', data: 'AAAA' } },
    ],
    [
      'an inline text file',
      { kind: 'file', url: `data:text/csv;base64,${Buffer.from('ä,b').toString('base64')}`, name: 't.csv' },
      { filename: 't.csv', mediaType: 'text/plain', data: { type: 'text', text: 'ä,b' } },
    ],
    [
      'an inline JSON file, whose own type counts and not the one that came with it',
      { kind: 'file', url: `data:application/json;charset=utf-8;base64,${btoa('{}')}`, mimeType: 'application/pdf' },
      { mediaType: 'text/plain', data: { type: 'text', text: '{}' } },
    ],
    [
      'inline media that nobody says the type of',
      { kind: 'audio', url: 'data:;base64,AAAA' },
      { mediaType: 'audio/wav', data: { type: 'data', data: 'AAAA' } },
    ],
    [
      'an address whose type is told, with parameters and in capitals',
      { kind: 'image', url: 'https://img.example/a.gif', mimeType: 'Image/PNG; q=1' },
      { mediaType: 'image/png', data: { type: 'url', url: new URL('https://img.example/a.gif') } },
    ],
    [
      'an address whose end is the name of a property',
      { kind: 'image', url: 'https://img.example/a.constructor' },
      { mediaType: 'image/jpeg', data: { type: 'url', url: new URL('https://img.example/a.constructor') } },
    ],
    [
      'an address whose end tells the type',
      { kind: 'image', url: 'https://img.example/a.PNG?size=1' },
      { mediaType: 'image/png', data: { type: 'url', url: new URL('https://img.example/a.PNG?size=1') } },
    ],
    [
      'an address that tells nothing',
      { kind: 'image', url: 'https://img.example/a' },
      { mediaType: 'image/jpeg', data: { type: 'url', url: new URL('https://img.example/a') } },
    ],
    [
      'a document by address',
      { kind: 'file', url: 'https://docs.example/a.pdf' },
      { mediaType: 'application/pdf', data: { type: 'url', url: new URL('https://docs.example/a.pdf') } },
    ],
  ];
  for (const [name, part, expected] of cases) {
    test(name, () => {
      const [message] = toPrompt([user({ type: 'media', ...part })], context);
      assert.deepEqual(message?.content, [{ type: 'file', ...expected }]);
    });
  }

  const unfetched = (kind: string): string => `Acme does not fetch this ${kind}: send it as a data: URI.`;
  const unencoded = 'A data: URI must hold base64 data.';
  const broken = 'Media must be valid base64, and not empty.';
  const elsewhere = 'Media must be an http(s) address or a data: URI.';
  const refused: [string, Omit<MediaPart, 'type'>, string][] = [
    [
      'an address the vendor does not fetch',
      { kind: 'file', url: 'https://elsewhere.example/a.pdf' },
      unfetched('file'),
    ],
    ['an address of another type', { kind: 'video', url: 'https://img.example/a.mp4' }, unfetched('video')],
    ['no base64', { kind: 'image', url: 'data:image/png,AAAA' }, unencoded],
    ['no data', { kind: 'image', url: 'data:image/png;base64' }, unencoded],
    ['broken base64', { kind: 'image', url: 'data:image/png;base64,!!!' }, broken],
    ['a text in broken base64', { kind: 'file', url: 'data:text/plain;base64,Hi there!' }, broken],
    ['an empty picture', { kind: 'image', url: 'data:image/png;base64,' }, broken],
    ['a path', { kind: 'image', url: '/files/a.png' }, elsewhere],
    ['another scheme', { kind: 'image', url: 'file:///etc/passwd' }, elsewhere],
  ];
  for (const [name, part, message] of refused) {
    test(`refused: ${name}`, () => {
      assert.throws(
        () => toPrompt([user({ type: 'media', ...part })], context),
        (error) => {
          assert.ok(error instanceof SluiceError);
          assert.deepEqual([error.code, error.options.param, error.message], ['invalid_request', 'messages', message]);
          return true;
        },
      );
    });
  }

  for (const type of ['*', '*/*', 'video/*', 'video/mp4']) {
    test(`an address that the vendor fetches as ${type}, in any case`, () => {
      const part: MediaPart = { type: 'media', kind: 'video', url: 'https://vid.example/A.mp4' };
      const [message] = toPrompt([user(part)], {
        ...context,
        supportedUrls: { [type]: [/^https:\/\/vid\.example\/a/] },
      });
      const data = { type: 'url', url: new URL(part.url) };
      assert.deepEqual(message?.content, [{ type: 'file', mediaType: 'video/mp4', data }]);
    });
  }

  test('media of an earlier answer: inline it is shown again, by address it is left out', () => {
    const image = (url: string): Part => ({ type: 'media', kind: 'image', url });
    const [message] = toPrompt(
      [assistant(text('Here:'), image('data:image/png;base64,AAAA'), image('https://img.example/a.png'))],
      context,
    );
    assert.deepEqual(message?.content, [
      text('Here:'),
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } },
    ]);
  });
});
