import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { BODY, base64, blue, openWorld, ROWS, red, SAID } from './image-vendors-world.ts';

for (const row of ROWS) {
  const { id, model, entry = 'apiKey: key-of-the-operator' } = row;
  // Most of their time they wait for the pauses between two looks at a job.
  describe(id, { timeout: 60_000, concurrency: true }, () => {
    test('what was asked arrives, what was drawn comes back', async (context) => {
      const world = await openWorld(context, row, { pictures: [red] }, { entry });
      const { status, json, headers } = await world.ask({ model, ...BODY });
      assert.equal(status, 200, JSON.stringify(json));
      assert.deepEqual(json.data, [base64(red)]);
      assert.deepEqual([json.provider, json.model], [id, model]);
      assert.deepEqual(headers.get('x-sluice-dropped')?.split(', ').sort(), row.dropped);
      const [call] = world.upstream.at(row.path);
      assert.ok(call !== undefined, world.upstream.calls.map(({ path }) => path).join(' '));
      if (row.header !== undefined) assert.equal(call.headers[row.header[0]], row.header[1]);
      const sent = call.form === undefined ? call.json : Object.fromEntries(call.form.entries());
      for (const [name, value] of Object.entries(row.sent)) assert.deepEqual(sent[name], value, name);
    });

    test('as a link to this server', async (context) => {
      const world = await openWorld(context, row, { pictures: [red] }, { entry });
      const { json } = await world.ask({ model, prompt: 'A red boat' });
      const [{ url }] = json.data;
      assert.ok(url.startsWith(`${world.gateway.origin}/media/`), url);
      assert.deepEqual(Buffer.from(await (await fetch(url)).arrayBuffer()), red);
    });

    test('without a model, the first that it lists', async (context) => {
      const world = await openWorld(context, row, { pictures: [red] }, { entry });
      const { status, json } = await world.ask({ prompt: 'A red boat' });
      assert.equal(status, 200, JSON.stringify(json));
      const listing = (await (await fetch(`${world.gateway.origin}/api/${id}/models`)).json()) as {
        data: { id: string; type: string; image: boolean }[];
      };
      const first = listing.data.find(({ type }) => type === 'image');
      assert.deepEqual([json.model, first?.image], [first?.id, true]);
    });

    test('several', async (context) => {
      const world = await openWorld(context, row, { pictures: [red, blue] }, { entry });
      const { status, json } = await world.ask({ model, prompt: 'x', n: 2, response_format: 'b64_json' });
      assert.equal(status, 200, JSON.stringify(json));
      // ComfyUI's history shows the one file of the script.
      assert.equal(json.data.length, id === 'comfyui' ? 1 : 2);
    });

    test('a refusal in its own words, without the key', async (context) => {
      const text = JSON.stringify(row.refusal).replaceAll(SAID, `${SAID} key-of-the-operator`);
      const play = { pictures: [], refusal: { status: 400, json: JSON.parse(text) } };
      const world = await openWorld(context, row, play, { entry });
      const { status, json } = await world.ask({ model, prompt: 'x' });
      assert.deepEqual([status, json.error.code], [400, 'invalid_request'], JSON.stringify(json));
      assert.ok(json.error.message.includes(SAID), json.error.message);
      if (entry !== '') assert.doesNotMatch(json.error.message, /key-of-the-operator/);
    });

    for (const [name, status, code] of [
      ['a wrong key', 401, 'missing_credentials'],
      ['too many requests', 429, 'rate_limited'],
    ] as const) {
      test(`${name}: ${status}`, async (context) => {
        const play = { pictures: [], refusal: { status, json: { detail: 'no' }, headers: { 'retry-after': '99' } } };
        const world = await openWorld(context, row, play, { entry });
        const answer = await world.ask({ model, prompt: 'x' });
        assert.deepEqual([answer.status, answer.json.error.code], [status, code], JSON.stringify(answer.json));
      });
    }

    test('what is no JSON, and a redirect', async (context) => {
      for (const refusal of [
        { bytes: Buffer.from('<html>'), type: 'text/html' },
        { status: 307, json: {}, headers: { location: 'http://127.0.0.1:1/' } },
      ]) {
        const world = await openWorld(context, row, { pictures: [], refusal }, { entry });
        const { status } = await world.ask({ model, prompt: 'x' });
        assert.equal(status, 502);
      }
    });

    const { calledOff, failure } = row;
    if (failure !== undefined) {
      test('a job that fails', async (context) => {
        const world = await openWorld(context, row, { pictures: [], failure: failure[0] }, { entry });
        const { status, json } = await world.ask({ model, prompt: 'x' });
        assert.equal(status, failure[1], JSON.stringify(json));
        assert.match(json.error.message, failure[0] === SAID ? /not allowed/ : /filtered/);
      });
    }

    if (calledOff !== undefined) {
      test('nobody waits any more: the job is called off', async (context) => {
        const world = await openWorld(context, row, { pictures: [red], endless: true }, { entry });
        const gone = new AbortController();
        const asked = fetch(`${world.gateway.origin}/v1/images/generations`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ provider: id, model, prompt: 'x' }),
          signal: gone.signal,
        });
        const isFollowed = (): boolean => world.upstream.calls.length >= (id === 'automatic1111' ? 1 : 3);
        await eventually('it is followed', isFollowed);
        gone.abort();
        await assert.rejects(asked);
        const [method, path] = calledOff;
        await eventually('it is called off', () => world.upstream.at(path).some((call) => call.method === method));
        const [call] = world.upstream.at(path);
        if (row.header !== undefined) assert.equal(call?.headers[row.header[0]], row.header[1]);
        if (id === 'comfyui') assert.deepEqual(call?.json, { prompt_id: 'job-1' });
      });

      test('its time is over: 504, and the job is called off', async (context) => {
        const world = await openWorld(context, row, { pictures: [red], endless: true }, { entry });
        const { status, json } = await world.ask({ model, prompt: 'x', timeout: 1 });
        assert.deepEqual([status, json.error.code], [504, 'upstream_timeout']);
        await eventually('it is called off', () => world.upstream.at(calledOff[1]).length > 0);
      });
    }
  });
}
