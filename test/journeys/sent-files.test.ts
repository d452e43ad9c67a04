import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { APIError, NotFoundError, toFile, UnprocessableEntityError } from 'openai';
import type { FileObject } from 'openai/resources/files';
import { text as member, zip } from '../fixtures/documents/hostile.ts';
import { startGateway } from '../support/gateway.ts';
import { FORMATS, openWorld, type World } from './responses-world.ts';
import { assertHolds } from './sdk-vendors.ts';

const PDF = Buffer.from('%PDF-1.4\n1 0 obj <<>> endobj\ntrailer <<>>\n%%EOF\n');
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

describe('files that are sent once and referred to', { timeout: 120_000 }, () => {
  let world: World;
  let client: OpenAI;
  before(async () => {
    world = await openWorld();
    client = world.client;
  });
  after(() => world.close());

  const send = async (
    bytes: Buffer,
    name: string,
    purpose: 'user_data' | 'vision' = 'user_data',
  ): Promise<FileObject> => client.files.create({ file: await toFile(bytes, name), purpose });

  test('are kept, listed, read and deleted', async () => {
    const before = Math.floor(Date.now() / 1_000);
    const file = await send(PDF, 'Grüße 1.pdf');
    assert.match(file.id, /^file-[0-9a-f]{48}$/);
    assert.ok(file.created_at >= before);
    assert.deepEqual(
      { ...file, created_at: 0 },
      {
        id: file.id,
        object: 'file',
        bytes: PDF.length,
        created_at: 0,
        expires_at: null,
        filename: 'Grüße 1.pdf',
        purpose: 'user_data',
        status: 'processed',
        status_details: null,
      },
    );
    assert.deepEqual(await client.files.retrieve(file.id), file);
    const content = await client.files.content(file.id);
    assert.deepEqual(Buffer.from(await content.arrayBuffer()), PDF);
    assert.equal(content.headers.get('content-type'), 'application/octet-stream');
    assert.equal(content.headers.get('x-content-type-options'), 'nosniff');
    const picture = await send(PNG, 'a.png', 'vision');
    const third = await client.files.create({
      file: await toFile(Buffer.from('x'), 'x.txt'),
      purpose: 'user_data',
      expires_after: { anchor: 'created_at', seconds: 3_600 },
    });
    assert.equal(third.expires_at, third.created_at + 3_600);
    const ids = async (query: OpenAI.FileListParams = {}): Promise<readonly string[]> =>
      (await Array.fromAsync(client.files.list(query))).map(({ id }) => id);
    assert.deepEqual(await ids(), [third.id, picture.id, file.id]);
    assert.deepEqual(await ids({ order: 'asc', limit: 1 }), [file.id, picture.id, third.id]);
    assert.deepEqual(await ids({ purpose: 'vision' }), [picture.id]);
    assert.deepEqual(await client.files.delete(file.id), { id: file.id, object: 'file', deleted: true });
    for (const ask of [
      () => client.files.retrieve(file.id),
      () => client.files.content(file.id),
      () => client.files.delete(file.id),
    ]) {
      await assert.rejects(ask(), NotFoundError);
    }
    assert.deepEqual(await ids(), [third.id, picture.id]);
  });

  for (const format of FORMATS) {
    test(`reach ${format} as if they had come inline`, async () => {
      const seat = world.seat(format);
      const file = await send(PDF, 'report.pdf');
      const picture = await send(PNG, 'a.png', 'vision');
      seat.answers({ text: ['Read.'] });
      await client.responses.create({
        model: seat.model,
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_file', file_id: file.id },
              { type: 'input_image', file_id: picture.id, detail: 'low' },
              { type: 'input_text', text: 'What is it?' },
            ],
          },
        ],
      });
      const holds = (what: string): void => {
        const sent = JSON.stringify(seat.last.body);
        for (const bytes of [PDF, PNG]) assert.ok(sent.includes(bytes.toString('base64')), `${what}: ${sent}`);
        assert.equal(sent.includes(file.id), false, sent);
        assert.ok(sent.includes('image/png'), sent);
      };
      holds('responses');
      for (const stream of [false, true]) {
        const answer = await client.chat.completions.create({
          model: seat.model,
          messages: [
            {
              role: 'user',
              content: [
                { type: 'file', file: { file_id: file.id } },
                { type: 'image_url', image_url: { url: `/v1/files/${picture.id}/content` } },
                // Long enough to be read in outline.
                { type: 'text', text: 'What is it? '.repeat(5_000) },
              ],
            },
          ],
          stream,
        });
        if (Symbol.asyncIterator in answer) await Array.fromAsync(answer);
        holds('chat completions');
      }
    });
  }

  test('are what they are, whatever refers to them', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['Seen.'] });
    const picture = await send(PNG, 'a.png', 'vision');
    const file = await send(PDF, 'report.pdf');
    const content = [
      { type: 'file' as const, file: { file_id: picture.id } },
      { type: 'image_url' as const, image_url: { url: `/v1/files/${file.id}/content` } },
    ];
    await client.chat.completions.create({ model: seat.model, messages: [{ role: 'user', content }] });
    assertHolds(seat.last.body, {
      messages: [
        {
          content: [
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` } },
            {
              type: 'file',
              file: { file_data: `data:application/pdf;base64,${PDF.toString('base64')}`, filename: 'report.pdf' },
            },
          ],
        },
      ],
    });
  });

  test('are refused where they are too much for one request, be it the same one twice', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['Seen.'] });
    const file = await send(Buffer.concat([PDF, Buffer.alloc(17 * 1024 * 1024)]), 'report.pdf');
    const part = { type: 'file' as const, file: { file_id: file.id } };
    const ask = (count: number) =>
      client.chat.completions.create({
        model: seat.model,
        messages: [{ role: 'user', content: Array(count).fill(part) }],
      });
    await ask(1);
    await assert.rejects(ask(2), (error) => error instanceof APIError && error.status === 413);
    assert.equal(seat.arrived.length, 1);
  });

  test('are refused where the texts in them are too much for one request, however small the files', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['Read.'] });
    const size = 900_000;
    const file = await send(zip([member('tides.txt', 'tide '.repeat(size / 5))]), 'tides.zip');
    assert.ok(file.bytes < 10_000, `${file.bytes}`);
    const part = { type: 'file' as const, file: { file_id: file.id } };
    const ask = (count: number) =>
      client.chat.completions.create({
        model: seat.model,
        messages: [{ role: 'user', content: Array(count).fill(part) }],
      });
    await ask(2);
    await assert.rejects(ask(40), (error) => {
      assert.ok(error instanceof APIError);
      assert.deepEqual([error.status, error.param], [413, 'file_id']);
      assert.match(
        error.message,
        /The stored files in 'file_id', or their texts, have more than 33554432 bytes in all with 'tides\.zip': send fewer or smaller ones\.$/,
      );
      return true;
    });
    assert.equal(seat.arrived.length, 1);
  });

  test('are read here where nothing else keeps a chat from being passed on as it is', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['Read.'] });
    const file = await send(PDF, 'report.pdf');
    for (const text of ['Read it.', 'Read it. '.repeat(10_000)]) {
      const content = [
        { type: 'file' as const, file: { file_id: file.id } },
        { type: 'text' as const, text },
      ];
      await client.chat.completions.create({ model: seat.model, messages: [{ role: 'user', content }] });
      const sent = JSON.stringify(seat.last.body);
      assert.ok(sent.includes(PDF.toString('base64')), sent);
      assert.equal(sent.includes(file.id), false, sent);
    }
  });

  test('are results of tools, too', async () => {
    const file = await send(PDF, 'report.pdf');
    const seat = world.seat('openai-responses');
    seat.answers({ text: ['Read.'] });
    await client.responses.create({
      model: seat.model,
      input: [
        { role: 'user', content: 'Fetch the report.' },
        { type: 'function_call', call_id: 'call_1', name: 'fetch', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_file', file_id: file.id }] },
      ],
    });
    const sent = JSON.stringify(seat.last.body);
    assert.ok(sent.includes(PDF.toString('base64')), sent);
    assert.equal(sent.includes(file.id), false);
  });

  test('are documents of messages, too', async () => {
    const seat = world.seat('anthropic');
    seat.answers({ text: ['Read.'] });
    const file = await send(PDF, 'report.pdf');
    const text = await send(Buffer.from('Plain words.'), 'notes.txt');
    const anthropic = new Anthropic({ baseURL: world.gateway.origin, apiKey: 'secret', maxRetries: 0 });
    await anthropic.beta.messages.create({
      model: seat.model,
      max_tokens: 100,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', source: { type: 'file', file_id: file.id } },
            { type: 'document', source: { type: 'file', file_id: text.id } },
          ],
        },
      ],
    });
    const sent = JSON.stringify(seat.last.body);
    assert.ok(sent.includes(PDF.toString('base64')), sent);
    assert.ok(sent.includes('<!-- File: notes.txt -->\\nPlain words.'), sent);
  });

  test('are to Anthropic the documents that its clients mean, with title, context and citations', async () => {
    const claude = world.seat('anthropic');
    const other = world.seat('openai');
    for (const seat of [claude, other]) seat.answers({ text: ['Read.'] });
    const { id } = await send(Buffer.from('Plain words.'), 'notes.txt');
    const anthropic = new Anthropic({ baseURL: world.gateway.origin, apiKey: 'secret', maxRetries: 0 });
    const said = {
      title: 'Notes',
      context: 'From the archive.',
      citations: { enabled: true },
      cache_control: { type: 'ephemeral' as const },
    };
    const asked = async (model: string) => {
      const document = { type: 'document' as const, source: { type: 'file' as const, file_id: id }, ...said };
      const messages = [{ role: 'user' as const, content: [document] }];
      const { response } = await anthropic.beta.messages.create({ model, max_tokens: 100, messages }).withResponse();
      return response.headers.get('x-sluice-dropped');
    };
    assert.equal(await asked(claude.model), null);
    const source = { type: 'text', media_type: 'text/plain', data: 'Plain words.' };
    assertHolds(claude.last.body, { messages: [{ content: [{ type: 'document', source, ...said }] }] });
    assert.equal(await asked(other.model), 'context, citations, cache_control');
    assert.ok(JSON.stringify(other.last.body).includes('<!-- File: Notes -->\\nPlain words.'));
  });

  test('are kept, listed, read and deleted by clients of Anthropic’s API, in its form', async () => {
    const { files } = new Anthropic({ baseURL: world.gateway.origin, apiKey: 'secret', maxRetries: 0 }).beta;
    const sent = await files.upload({ file: await Anthropic.toFile(PDF, 'tides.pdf', { type: 'application/pdf' }) });
    assert.deepEqual(
      { ...sent, created_at: '' },
      {
        type: 'file',
        id: sent.id,
        filename: 'tides.pdf',
        mime_type: 'application/pdf',
        size_bytes: PDF.length,
        created_at: '',
        expires_at: null,
        downloadable: true,
      },
    );
    assert.ok(Math.abs(Date.parse(sent.created_at) - Date.now()) < 60_000);
    assert.deepEqual(await files.retrieveMetadata(sent.id), sent);
    assert.deepEqual(Buffer.from(await (await files.download(sent.id)).arrayBuffer()), PDF);
    const more = [await files.upload({ file: await Anthropic.toFile(PNG, 'b.png') })];
    more.push(await files.upload({ file: await Anthropic.toFile(PNG, 'c.png') }));
    const [second, third] = more;
    const newest = await Array.fromAsync(files.list({ limit: 1 }));
    assert.deepEqual(
      newest.slice(0, 3).map(({ id }) => id),
      [third?.id, second?.id, sent.id],
    );
    const asked = await files.list({ ids: [sent.id, String(third?.id), 'file-unknown', sent.id] });
    assert.deepEqual(
      asked.data.map(({ id }) => id),
      [sent.id, third?.id],
    );
    // Earlier versions of the API had other names for pages, and one for those that come before.
    for (const [limit, data, hasMore] of [
      [1, [{ id: second?.id }], true],
      [2, [{ id: third?.id }, { id: second?.id }], false],
    ] as const) {
      const older = `${world.gateway.origin}/v1/files?before_id=${sent.id}&limit=${limit}`;
      const page = await (await fetch(older, { headers: { 'anthropic-version': '2023-06-01' } })).json();
      assertHolds(page, { data, has_more: hasMore, next_page: null });
    }
    assert.deepEqual(await files.delete(sent.id), { id: sent.id, type: 'file_deleted' });
    await assert.rejects(files.retrieveMetadata(sent.id), (error) => error instanceof Anthropic.NotFoundError);
    // One file, whichever form it was sent in.
    assert.equal((await client.files.retrieve(String(third?.id))).filename, 'c.png');
  });

  test('tell clients of Anthropic’s API what is wrong in its form, with their own field', async () => {
    const headers = { 'anthropic-version': '2023-06-01' };
    for (const [query, status, field] of [
      [`/file-${'0'.repeat(48)}/content`, 404, /file_id|no file/],
      ['?page=nope', 404, /page/],
      ['?before_id=x', 404, /before_id/],
      ['?after_id=x', 404, /after_id/],
      ['?limit=1e1', 400, /limit/],
    ] as const) {
      const answer = await fetch(`${world.gateway.origin}/v1/files${query}`, { headers });
      const body = (await answer.json()) as { readonly type: string };
      assert.deepEqual([answer.status, body.type], [status, 'error'], JSON.stringify(body));
      assert.match(JSON.stringify(body), field);
    }
  });

  test('are counted as what models get, and missed as they are', async () => {
    const anthropic = new Anthropic({ baseURL: world.gateway.origin, apiKey: 'secret', maxRetries: 0 });
    const text = await send(Buffer.from('Plain words.'), 'notes.txt');
    const seat = world.seat('anthropic');
    seat.answers({ raw: '{"input_tokens":7}', headers: { 'content-type': 'application/json' } });
    const document = (file_id: string) => ({
      model: seat.model,
      messages: [
        { role: 'user' as const, content: [{ type: 'document' as const, source: { type: 'file' as const, file_id } }] },
      ],
    });
    await anthropic.beta.messages.countTokens(document(text.id));
    const sent = JSON.stringify(seat.last.body);
    assert.ok(sent.includes('Plain words.') && !sent.includes(text.id), sent);
    const unknown = `file-${'0'.repeat(48)}`;
    await assert.rejects(
      anthropic.beta.messages.countTokens(document(unknown)),
      (error) => error instanceof Anthropic.NotFoundError,
    );
    const count = (file_id: string) =>
      client.responses.inputTokens.count({
        model: world.seat('openai').model,
        input: [{ role: 'user', content: [{ type: 'input_file', file_id }] }],
      });
    assert.ok(Number((await count(text.id)).input_tokens) < 100);
    await assert.rejects(count(unknown), NotFoundError);
  });

  test('may be empty', async () => {
    const empty = await send(Buffer.alloc(0), 'empty.txt');
    for (const format of FORMATS) {
      const seat = world.seat(format);
      seat.answers({ text: ['Nothing.'] });
      const content = [
        { type: 'input_file' as const, file_id: empty.id },
        { type: 'input_text' as const, text: 'What does it say?' },
      ];
      const answer = await client.responses.create({ model: seat.model, input: [{ role: 'user', content }] });
      assert.equal(answer.output_text, 'Nothing.');
      assert.ok(JSON.stringify(seat.last.body).includes('empty.txt'), format);
    }
  });

  test('are kept in conversations by their ids', async () => {
    const seat = world.seat('openai-responses');
    seat.answers({ text: ['Read.'] });
    const file = await send(PDF, 'report.pdf');
    const content = [
      { type: 'input_file' as const, file_id: file.id },
      { type: 'input_text' as const, text: 'Read it.' },
    ];
    const conversation = await client.conversations.create();
    const ask = { model: seat.model, conversation: conversation.id };
    const first = await client.responses.create({ ...ask, input: [{ role: 'user', content }] });
    const items = await Array.fromAsync(client.conversations.items.list(conversation.id, { order: 'asc' }));
    assert.ok(items[0]?.type === 'message');
    assert.deepEqual(items[0].content, content);
    await client.responses.create({ ...ask, input: 'And?' });
    assert.ok(JSON.stringify(seat.last.body).includes(PDF.toString('base64')));
    await client.responses.create({ model: seat.model, previous_response_id: first.id, input: 'Or?' });
    assert.ok(JSON.stringify(seat.last.body).includes(PDF.toString('base64')));
    await client.files.delete(file.id);
    await assert.rejects(
      client.responses.create({ ...ask, input: 'Still?' }),
      (error) => error instanceof NotFoundError && error.message.includes(file.id) && error.param === 'file_id',
    );
  });

  test('of others, which OpenAI keeps, mean what they meant', async () => {
    const seat = world.seat('openai');
    seat.answers({ text: ['Hm.'] });
    await client.chat.completions.create({
      model: seat.model,
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-abc123' } }] }],
    });
    assert.ok(JSON.stringify(seat.last.body).includes('file-abc123'));
  });

  test('are refused with the field that is wrong', async () => {
    const file = await toFile(PDF, 'a.pdf');
    const wrong: readonly (readonly [() => Promise<unknown>, string])[] = [
      [() => client.files.create({ file, purpose: 'user data' as never }), 'purpose'],
      [() => client.files.create({ file, purpose: undefined as never }), 'purpose'],
      [() => client.files.create({ file: undefined as never, purpose: 'user_data' }), 'file'],
      [
        () => client.files.create({ file, purpose: 'user_data', expires_after: { anchor: 'created_at', seconds: 10 } }),
        'expires_after[seconds]',
      ],
      [
        () => client.files.create({ file, purpose: 'user_data', expires_after: { anchor: 'created_at' } as never }),
        'expires_after[seconds]',
      ],
      [async () => client.files.list({ limit: 0 }), 'limit'],
      [async () => client.files.list({ order: 'up' as never }), 'order'],
    ];
    for (const [ask, param] of wrong) {
      await assert.rejects(ask(), (error) => {
        assert.ok(error instanceof UnprocessableEntityError, String(error));
        assert.equal(error.param, param);
        return true;
      });
    }
    for (const id of ['file-1', '../../x', '%00', `file-${'A'.repeat(48)}`, '*']) {
      await assert.rejects(client.files.retrieve(id), (error) => error instanceof NotFoundError, id);
      await assert.rejects(client.files.delete(id), (error) => error instanceof NotFoundError, id);
      await assert.rejects(client.files.content(id), (error) => error instanceof NotFoundError, id);
    }
    await assert.rejects(
      async () => client.files.list({ after: 'file-1' }),
      (error) => error instanceof APIError && error.status === 404 && error.param === 'after',
    );
    await assert.rejects(
      client.responses.create({
        model: world.seat('openai').model,
        input: [{ role: 'user', content: [{ type: 'input_file', file_id: `file-${'0'.repeat(48)}` }] }],
      }),
      NotFoundError,
    );
  });
});

test('files have limits, each and those of one request together', { timeout: 60_000 }, async (context) => {
  const gateway = await startGateway('limits: { uploadFileBytes: 1000 }');
  context.after(() => gateway.close());
  const client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: 'secret', maxRetries: 0 });
  const file = await toFile(Buffer.alloc(1_001), 'x.bin');
  await assert.rejects(
    client.files.create({ file, purpose: 'user_data' }),
    (error) => error instanceof APIError && error.status === 413,
  );
});
