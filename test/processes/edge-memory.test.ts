import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { head } from '../journeys/edge-requests.ts';
import { CHATS, HI } from '../journeys/edge-world.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { startOpenAiUpstream } from '../support/openai-upstream.ts';
import { ask, dial, listen, pour, statusesIn } from '../support/raw-http.ts';

const MB = 1024 * 1024;

describe('memory', () => {
  const [A, B] = CHATS;
  const big = 'a'.repeat(5 * MB);
  const answered = { ...HI, messages: [{ role: 'user', content: big }] };
  const cases = [
    { name: 'answered in A', path: A.path, body: JSON.stringify(answered), status: 200 },
    { name: 'answered in B', path: B.path, body: JSON.stringify(answered), status: 200 },
    { name: 'refused', path: B.path, body: JSON.stringify({ ...answered, model: 1 }), status: 422 },
    { name: 'broken', path: A.path, body: JSON.stringify(answered).slice(0, -1), status: 400 },
  ];
  for (const { name, path, body, status } of cases) {
    test(`of 40 requests with 5 MB at once, ${name}`, async () => {
      await using upstream = await startOpenAiUpstream();
      await using gateway = await startGatewayProcess(
        `providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}', models: [test-model] } }`,
      );
      const bytes = Buffer.from(body);
      const headers = { 'content-type': 'application/json' };
      const post = (what: string | Buffer) => ask(gateway.origin, { method: 'POST', path, headers, body: what });
      assert.equal((await post(JSON.stringify(HI))).status, 200);
      const { now } = await gateway.memory();
      const answers = await Promise.all(Array.from({ length: 40 }, () => post(bytes)));
      for (const answer of answers) assert.equal(answer.status, status, answer.text.slice(0, 300));
      const { peak } = await gateway.memory();
      const growth = Math.round((peak - now) / MB);
      assert.ok(growth < 300, `${growth} MB`);
    });
  }

  test('of bodies that never end', async () => {
    await using gateway = await startGatewayProcess('providers: {}');
    const { now } = await gateway.memory();
    const piece = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 'a'), Buffer.from('\r\n')]);
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const socket = await dial(gateway.origin);
        const heard = listen(socket, 20_000);
        socket.write(head(CHATS[1].path, 'transfer-encoding: chunked'));
        await pour(socket, piece, 200 * MB);
        assert.deepEqual(statusesIn((await heard).text), [413]);
      }),
    );
    const { peak } = await gateway.memory();
    const growth = Math.round((peak - now) / MB);
    assert.ok(growth < 300, `${growth} MB`);
  });
});
