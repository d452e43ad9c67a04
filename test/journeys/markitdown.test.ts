import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HEARD } from '../support/listening-upstream.ts';

import { WAV, type World, world } from './audio-world.ts';

describe('POST /api/markitdown', () => {
  let here: World;
  before(async () => {
    here = await world();
  });
  after(() => here.close());

  async function send(
    name: string,
    bytes: string | Buffer,
  ): Promise<{ status: number; json: Record<string, unknown> }> {
    const body = new FormData();
    body.append('file', new Blob([typeof bytes === 'string' ? bytes : new Uint8Array(bytes)]), name);
    const response = await fetch(`${here.gateway.origin}/api/markitdown`, { method: 'POST', body });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  }

  test('a document becomes markdown', async () => {
    const { status, json } = await send('page.html', '<h1>Title</h1><p>Some <b>text</b>.</p>');
    assert.equal(status, 200);
    assert.match(String(json['text']), /# Title[\s\S]*Some \*\*text\*\*\./);
    assert.deepEqual([json['model'], json['provider']], ['markitdown', 'sluice']);
  });

  test('text stays as it is', async () => {
    const { json } = await send('notes.txt', 'Remember the milk');
    assert.equal(json['text'], 'Remember the milk');
  });

  test('a recording is transcribed', async () => {
    const { json } = await send('voice.wav', WAV);
    assert.deepEqual([json['text'], json['provider']], [HEARD, 'acme']);
  });

  test('a form without a file is told so, whatever the file would be', async () => {
    const body = new FormData();
    body.append('files', new Blob(['text']), 'notes.txt');
    const response = await fetch(`${here.gateway.origin}/api/markitdown`, { method: 'POST', body });
    const { error } = (await response.json()) as { error: { message: string; param: string } };
    assert.deepEqual([response.status, error.param], [422, 'file']);
    assert.equal(error.message, "The form needs a part 'file'.");
  });

  test('what is neither is refused', async () => {
    for (const [name, bytes] of [
      ['a.pdf', 'no pdf'],
      ['a.exe', 'MZ'],
    ] as const) {
      const { status, json } = await send(name, bytes);
      assert.equal(status, 415);
      assert.match((json['error'] as { message: string }).message, /^The file /);
    }
  });
});
