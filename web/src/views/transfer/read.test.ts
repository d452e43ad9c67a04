import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Chat, type Message, type Part, textOf } from '../../state/model.ts';
import { pathTo } from '../../state/tree.ts';
import type { WholeChat } from './imported.ts';
import { readExport, readText } from './read.ts';
import { toJson } from './write.ts';

const NOW = 1_800_000_000_000;

/** The shown branch, as `role: text`. */
function branch({ chat, messages }: WholeChat, leaf = chat.leaf): string[] {
  return path({ chat, messages }, leaf).map((message) => `${message.role}: ${textOf(message)}`);
}

function path({ chat, messages }: WholeChat, leaf = chat.leaf): readonly Message[] {
  return pathTo(Object.fromEntries(messages.map((message) => [message.id, message])), leaf);
}

function only(value: unknown): WholeChat {
  const { chats, problems } = readExport(value, NOW);
  assert.deepEqual(problems, []);
  assert.equal(chats.length, 1);
  return chats[0] as WholeChat;
}

describe('an export of ChatGPT', () => {
  const node = (id: string, parent: string | null, message: object | null): [string, object] => [
    id,
    { id, parent, message, children: [] },
  ];
  const said = (role: string, content: object, more: object = {}): object => ({
    author: { role },
    create_time: 1_750_000_000.5,
    content,
    metadata: {},
    recipient: 'all',
    ...more,
  });
  const text = (...parts: unknown[]): object => ({ content_type: 'text', parts });
  const conversation = {
    title: 'Rolling back',
    create_time: 1_750_000_000.25,
    update_time: 1_750_000_400,
    id: '6b0f0d9c-0000-4000-8000-000000000001',
    current_node: 'a2',
    default_model_slug: 'gpt-5',
    mapping: Object.fromEntries([
      node('root', null, null),
      node('hidden', 'root', {
        ...said('user', { content_type: 'user_editable_context', user_profile: 'An engineer' }),
        metadata: { is_visually_hidden_from_conversation: true },
      }),
      node('u1', 'hidden', said('user', text('How do I roll back?'))),
      node('a1', 'u1', said('assistant', text('Like this.'))),
      node(
        't1',
        'u1',
        said('assistant', { content_type: 'thoughts', thoughts: [{ summary: 'Plan', content: 'Hm.' }] }),
      ),
      node('c1', 't1', said('assistant', { content_type: 'code', text: 'print(1)' }, { recipient: 'python' })),
      node('r1', 'c1', said('tool', { content_type: 'execution_output', text: '1' })),
      node('a2', 'r1', said('assistant', text('Run `helm rollback`.'), { metadata: { model_slug: 'o4-mini' } })),
    ]),
  };

  test('has what ChatGPT shows in place of its marks, and the sources that they stand for', () => {
    const cite = '\ue200cite\ue202turn0search0\ue201';
    const content_references = [
      { matched_text: cite, alt: '([Site](https://a.example/))', items: [{ url: 'https://a.example/', title: 'A' }] },
      { matched_text: ' ', sources: [{ url: 'https://a.example/' }, { url: 'https://b.example/', title: 'B' }] },
    ];
    const words =
      `It lives in \ue200entity\ue202["city", "Paris", "in France"]\ue201 ${cite}, so they say \ue200cite\ue202turn9\ue201. ` +
      'Once more【4:0†source】, and \ue203never\ue204 \ue200closed';
    const answer = said('assistant', text(words), { metadata: { content_references } });
    const mapping = Object.fromEntries([node('u', null, said('user', text('Where? 【1†a】'))), node('a', 'u', answer)]);
    const chat = only([{ title: 'Cat', mapping, current_node: 'a' }]);
    assert.deepEqual(branch(chat), [
      'user: Where? 【1†a】',
      'assistant: It lives in Paris ([Site](https://a.example/)), so they say. Once more, and never closed',
    ]);
    assert.deepEqual(path(chat).at(-1)?.sources, [
      { url: 'https://a.example/', title: 'A' },
      { url: 'https://b.example/', title: 'B' },
    ]);
  });

  test('keeps the tree, and makes one answer of its pieces', () => {
    const chat = only([conversation]);
    assert.equal(chat.chat.id, conversation.id);
    assert.equal(chat.chat.title, 'Rolling back');
    assert.equal(chat.chat.created, 1_750_000_000_250);
    assert.deepEqual(branch(chat), ['user: How do I roll back?', 'assistant: Run `helm rollback`.']);
    const answer = path(chat).at(-1);
    assert.equal(answer?.model, 'o4-mini');
    assert.equal(answer?.reasoning, 'Plan\n\nHm.');
    assert.deepEqual(
      answer?.toolCalls?.map(({ name, arguments: given }) => [name, given]),
      [['python', 'print(1)']],
    );
    const other = chat.messages.find((message) => textOf(message) === 'Like this.');
    assert.deepEqual(branch(chat, other?.id), ['user: How do I roll back?', 'assistant: Like this.']);
    assert.equal(chat.messages.length, 3);
  });

  test('says which conversations have nothing in them, and counts pictures that are not there', () => {
    const picture = {
      ...conversation,
      current_node: 'u1',
      mapping: Object.fromEntries([
        node(
          'u1',
          null,
          said('user', {
            content_type: 'multimodal_text',
            parts: [{ content_type: 'image_asset_pointer', asset_pointer: 'file-service://x' }, 'What is this?'],
          }),
        ),
      ]),
    };
    const empty = { title: 'Nothing', mapping: {} };
    const { chats, problems, leftOut, forms } = readExport([picture, empty, { title: 'Broken' }], NOW);
    assert.deepEqual(
      chats.flatMap((chat) => branch(chat)),
      ['user: What is this?'],
    );
    assert.deepEqual(problems, [
      { title: 'Nothing', reason: 'empty' },
      { title: 'Broken', reason: 'unknown' },
    ]);
    assert.deepEqual([leftOut, forms], [1, ['ChatGPT']]);
  });

  test('is not led in circles', () => {
    const ring = Object.fromEntries([
      node('a', 'b', said('user', text('one'))),
      node('b', 'a', said('assistant', text('two'))),
    ]);
    const { chats } = readExport([{ ...conversation, current_node: 'b', mapping: ring }], NOW);
    for (const chat of chats) assert.ok(path(chat).length <= 2);
  });
});

test('an export of Claude', () => {
  const chat = only([
    {
      uuid: 'c1c1c1c1-0000-4000-8000-000000000000',
      name: 'A plan',
      created_at: '2025-05-01T10:00:00.000000Z',
      updated_at: '2025-05-01T11:00:00.000000Z',
      chat_messages: [
        {
          uuid: 'm1',
          sender: 'human',
          text: 'Plan this',
          content: [{ type: 'text', text: 'Plan this' }],
          attachments: [{ file_name: 'notes.txt', extracted_content: 'some notes' }],
          files: [{ file_name: 'picture.png' }],
          created_at: '2025-05-01T10:00:00Z',
        },
        {
          uuid: 'm2',
          sender: 'assistant',
          text: '',
          content: [
            { type: 'thinking', thinking: 'Let me see.' },
            { type: 'tool_use', id: 't1', name: 'search', input: { q: 'x' } },
            { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'found' }] },
            { type: 'text', text: 'First this.' },
          ],
          created_at: '2025-05-01T10:01:00Z',
        },
      ],
    },
  ]);
  assert.equal(chat.chat.title, 'A plan');
  assert.equal(chat.chat.updated, Date.UTC(2025, 4, 1, 11));
  assert.match(branch(chat)[0] ?? '', /notes\.txt[\s\S]*some notes[\s\S]*Plan this/);
  const answer = path(chat).at(-1);
  assert.equal(answer && textOf(answer), 'First this.');
  assert.equal(answer?.reasoning, 'Let me see.');
  assert.equal(answer?.toolCalls?.[0]?.result, 'found');
});

describe('an export of Open WebUI', () => {
  const message = (id: string, parentId: string | null, role: string, content: string, more: object = {}): object => ({
    id,
    parentId,
    childrenIds: [],
    role,
    content,
    timestamp: 1_700_000_000,
    ...more,
  });
  const folded =
    '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 seconds</summary>\n&gt; 150 + 105\n</details>\n255';

  test('keeps branches, tags and thoughts', () => {
    const chat = only([
      {
        id: 'reasoning-chat',
        title: 'Sums',
        pinned: true,
        meta: { tags: ['maths', 'school'] },
        created_at: 1_700_000_000,
        updated_at: 1_700_000_010,
        chat: {
          models: ['deepseek-r1'],
          system: 'Be exact',
          history: {
            currentId: 'b',
            messages: {
              q: message('q', null, 'user', '15 * 17?'),
              a: message('a', 'q', 'assistant', '254'),
              b: message('b', 'q', 'assistant', folded, { model: 'deepseek-r1' }),
            },
          },
        },
      },
    ]);
    assert.deepEqual(branch(chat), ['user: 15 * 17?', 'assistant: 255']);
    assert.equal(path(chat).at(-1)?.reasoning, '150 + 105');
    assert.deepEqual([chat.chat.tags, chat.chat.pinned, chat.chat.system], [['maths', 'school'], true, 'Be exact']);
    assert.equal(chat.messages.length, 3);
  });

  test('prefers the items of the answer to their rendering', () => {
    const chat = only({
      chat: {
        title: 'Weather',
        history: {
          currentId: 'a',
          messages: {
            q: message('q', null, 'user', 'Paris?'),
            a: message('a', 'q', 'assistant', '<details type="tool_calls"><summary>Done</summary>x</details>18C', {
              output: [
                { type: 'function_call', call_id: 'c', name: 'get_weather', arguments: '{"city":"Paris"}' },
                { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'rain' }] },
                { type: 'message', content: [{ type: 'output_text', text: '18C and rain.' }] },
              ],
            }),
          },
        },
      },
    });
    assert.deepEqual(branch(chat), ['user: Paris?', 'assistant: 18C and rain.']);
    assert.equal(path(chat).at(-1)?.toolCalls?.[0]?.result, 'rain');
  });
});

describe('an export of LibreChat', () => {
  const root = '00000000-0000-0000-0000-000000000000';
  const question = { messageId: 'q', parentMessageId: root, isCreatedByUser: true, sender: 'User', text: 'Why?' };
  const answer = {
    messageId: 'a',
    parentMessageId: 'q',
    isCreatedByUser: false,
    sender: 'GPT',
    text: '',
    model: 'gpt-4o',
    createdAt: '2025-01-02T00:00:00Z',
    content: [
      { type: 'think', think: 'Hm.' },
      { type: 'text', text: { value: 'Because.' } },
    ],
  };
  const head = {
    conversationId: 'af1ea676-f525-444f-a9ed-7c8dbf062733',
    title: 'Reasons',
    options: { model: 'gpt-4o' },
  };

  test('as a list and as a tree', () => {
    for (const body of [
      { messages: [question, answer] },
      { recursive: true, messagesTree: [{ ...question, children: [{ ...answer, children: [] }] }] },
    ]) {
      const chat = only({ ...head, ...body });
      assert.deepEqual(branch(chat), ['user: Why?', 'assistant: Because.']);
      assert.equal(path(chat).at(-1)?.reasoning, 'Hm.');
      assert.equal(path(chat).at(-1)?.model, 'gpt-4o');
    }
  });

  test('however deep it is', () => {
    let tree: object = { ...question, messageId: 'm0' };
    for (let depth = 1; depth < 3_000; depth += 1)
      tree = { ...question, messageId: `m${depth}`, text: `${depth}`, children: [tree] };
    assert.equal(only({ ...head, messagesTree: [tree] }).messages.length, 3_000);
  });
});

describe('other files', () => {
  test('chatbot-ui, shared chats and bare messages', () => {
    const messages = [
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
      { role: 'assistant', content: 'Hi' },
    ];
    for (const value of [
      { version: 4, history: [{ id: 'x', name: 'Greeting', messages, model: { id: 'gpt-4' } }] },
      { id: 'abc', title: 'Greeting', items: messages },
      messages,
    ]) {
      const chat = only(value);
      assert.deepEqual(branch(chat), ['user: Hello', 'assistant: Hi']);
      assert.equal(chat.chat.system, 'Be brief');
    }
  });

  test('JSON line by line', () => {
    const line = JSON.stringify({ title: 'One', messages: [{ role: 'user', content: 'x' }] });
    assert.equal(readText(`${line}\n${line}\n`, NOW).chats.length, 2);
    assert.throws(() => readText('neither\nnor', NOW));
  });

  test('JSON line by line that is cut off in its last line has the whole lines before it, and is known to be cut', () => {
    const line = JSON.stringify({ title: 'One', messages: [{ role: 'user', content: 'x' }] });
    for (const end of ['', '\n', '\r\n']) {
      const { chats, isCut, problems } = readText(`${line}\n${line}\n${line.slice(0, 30)}${end}`, NOW);
      assert.deepEqual([chats.length, isCut, problems], [2, true, []]);
    }
    assert.equal(readText(`${line}\n${line}\n`, NOW).isCut, false);
    assert.throws(() => readText(`${line}\n${line.slice(0, 30)}\n${line}`, NOW), 'in its midst');
    assert.throws(() => readText(line.slice(0, 30), NOW));
    assert.throws(
      () => readText(JSON.stringify([{ a: 1 }, { b: 2 }], null, 2).slice(0, -3), NOW),
      'one value on lines',
    );
  });

  test('take no harm from anything', () => {
    const odd = [null, 7, 'text', [], {}, { mapping: { a: null } }, { chat_messages: [{}] }, { chat: { history: 3 } }];
    for (const value of [...odd, odd, { format: 'sluice-chats', chats: odd }, { messages: [{ role: {} }] }]) {
      assert.deepEqual(readExport(value, NOW).chats, []);
    }
  });
});

describe('our own export', () => {
  const whole: WholeChat = {
    chat: {
      id: 'chat-number-1',
      title: 'All of it',
      titleBy: 'person',
      created: 1_000_000_000_000,
      updated: 1_000_000_000_500,
      folder: 'Work',
      tags: ['a', 'b'],
      pinned: true,
      system: 'Be kind',
      model: 'm',
      provider: 'p',
      parameters: { temperature: 0.5 },
      memory: false,
      leaf: 'three',
      share: 'secret-share',
    },
    messages: [
      {
        id: 'one',
        chat: 'chat-number-1',
        parent: null,
        role: 'user',
        parts: [
          { type: 'file', bucketId: 'b-1', name: 'x.pdf', kind: 'document' },
          { type: 'text', text: 'Question' },
        ],
        createdAt: 1_000_000_000_000,
      },
      { id: 'two', chat: 'chat-number-1', parent: 'one', role: 'assistant', parts: [], createdAt: 1_000_000_000_001 },
      {
        id: 'three',
        chat: 'chat-number-1',
        parent: 'one',
        role: 'assistant',
        parts: [
          { type: 'text', text: 'Answer' },
          { type: 'media', kind: 'image', url: '/media/x.png', alt: 'X' },
        ],
        createdAt: 1_000_000_000_002,
        reasoning: 'Hm.',
        usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 },
        toolCalls: [{ index: 0, id: 'c', name: 'f', arguments: '{}' }],
        sources: [{ url: 'https://example.com' }],
        streamId: 'stream',
        finish: 'stop',
      },
    ],
  };

  test('comes back as it was, but for what belongs to this browser', () => {
    const { chats, forms } = readText(toJson([whole], new Date(NOW)).join(''), NOW);
    assert.deepEqual(forms, ['Sluice']);
    const [back] = chats;
    assert.ok(back);
    const { share: _, leaf: __, ...kept } = whole.chat;
    const { leaf: ___, ...got } = back.chat;
    assert.deepEqual(got, kept);
    const [one, two, three] = back.messages;
    assert.equal(back.chat.leaf, three?.id);
    assert.equal(two?.parent, one?.id);
    assert.equal(three?.parent, one?.id);
    const { streamId: ____, ...last } = whole.messages[2] as Message;
    assert.deepEqual({ ...three, id: 'three', parent: 'one' }, last);
    assert.deepEqual(one?.parts, whole.messages[0]?.parts);
    const ids = new Set(whole.messages.map(({ id }) => id));
    assert.ok(back.messages.every(({ id }) => !ids.has(id)));
  });

  test('has all that is kept of a chat', () => {
    // All members, so that a new one has to be thought of here.
    const parts: readonly Required<Part>[] = [
      { type: 'text', text: 'Half of it' },
      { type: 'media', kind: 'image', url: '/media/x.png', alt: 'X', width: 640, height: 480 },
      { type: 'file', bucketId: 'b-1', name: 'x.png', media: 'x.png', kind: 'image', size: 7 },
    ];
    const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3, cachedTokens: 1, reasoningTokens: 0 };
    const answer: Required<Message> = {
      id: 'a',
      chat: 'chat-number-2',
      parent: 'q',
      role: 'assistant',
      parts,
      createdAt: NOW,
      provider: '',
      label: 'P',
      model: 'm',
      usage,
      usageBefore: { ...usage, totalTokens: 1 },
      timing: { asked: NOW, first: NOW + 1, ended: NOW + 2, reasoningFrom: NOW, reasoning: 1 },
      reasoning: 'Hm.',
      toolCalls: [{ index: 3, id: 'c', name: 'f', arguments: '', result: '' }],
      sources: [{ url: 'https://example.com', title: 'T', text: 'It says' }],
      memories: 2,
      suggestions: ['And then?'],
      edited: true,
      notes: ['The search failed'],
      preview: 'Soon',
      error: { message: 'No', code: 'rate_limited', status: 429, retryAt: NOW, needsKey: true },
      streamId: 'secret-stream',
      lastEvent: 9,
      finish: 'stop',
    };
    const question: Message = { ...answer, id: 'q', parent: null, role: 'user' };
    const other: Message = { ...answer, id: 'b' };
    const chat: Required<Chat> = {
      ...(whole.chat as Required<Chat>),
      id: 'chat-number-2',
      titleBy: 'model',
      // Left to the server.
      model: '',
      provider: '',
      parameters: { temperature: 0, max_tokens: 5, reasoning_effort: 'low' },
      conversation: { p: { any: ['thing'] } },
      sides: [
        { provider: 'p', model: 'm', leaf: 'a' },
        { provider: '', model: '', leaf: 'b' },
      ],
      leaf: 'b',
      unread: true,
    };
    const text = toJson([{ chat, messages: [question, answer, other] }], new Date(NOW)).join('');
    assert.doesNotMatch(text, /secret/);
    const [back] = readText(text, NOW + 1).chats;
    assert.ok(back);
    const [q, a, b] = back.messages;
    const sides = [
      { ...chat.sides[0], leaf: a?.id },
      { ...chat.sides[1], leaf: b?.id },
    ];
    const { share: _, ...kept } = chat;
    assert.deepEqual(back.chat, { ...kept, sides, leaf: b?.id });
    const { streamId: __, lastEvent: ___, ...portable } = answer;
    assert.deepEqual(a, { ...portable, id: a?.id, parent: q?.id });
    assert.deepEqual(b, { ...portable, id: b?.id, parent: q?.id });
  });

  test('has no comparison and no parameters of anything else', () => {
    const message = { id: 'a', role: 'user', parts: [{ type: 'text', text: 'x' }] };
    const sides = [{ provider: 'p', model: 'm', leaf: 'elsewhere' }, { model: 7 }];
    const odd = { sides, parameters: { temperature: 'hot', top_p: 9, evil: true }, notes: 'x', messages: [message] };
    const [back] = readExport({ format: 'sluice-chats', chats: [odd] }, NOW).chats;
    assert.deepEqual([back?.chat.sides, back?.chat.parameters], [undefined, { top_p: 1 }]);
  });

  test('is not trusted', () => {
    const { chats } = readExport(
      {
        format: 'sluice-chats',
        chats: [
          {
            id: '../../x',
            messages: [
              { id: 'a', role: 'user', parts: [{ type: 'file', kind: 'image', name: 'n', bucketId: '../../etc' }, 3] },
              { id: 'b', parent: 'a', role: 'system', parts: 'x', usage: 'much', sources: [{ url: 7 }], toolCalls: {} },
            ],
          },
        ],
      },
      NOW,
    );
    const [chat] = chats;
    assert.match(chat?.chat.id ?? '', /^[\w-]{36}$/);
    assert.deepEqual(chat?.messages[0]?.parts, [{ type: 'text', text: 'n' }]);
    const { id: _, parent: __, chat: ___, ...rest } = (chat as WholeChat).messages[1] as Message;
    assert.deepEqual(rest, { role: 'assistant', parts: [], createdAt: NOW });
  });
});
