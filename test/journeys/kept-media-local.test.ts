import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startGateway } from '../support/gateway.ts';
import { picture } from '../support/pictures.ts';
import { listing, plainServer } from '../support/plain-server.ts';
import { providerConfig } from '../support/provider-config.ts';
import { converse } from './kept-world.ts';

/** Pictures are had from a provider's own address, however it came to be known. */
describe('pictures of a server on this machine are kept', { timeout: 60_000 }, () => {
  for (const way of ['configured', 'detected'] as const) {
    test(way, async (context) => {
      const bytes = await picture('#104080');
      const { url } = await plainServer(context, (request, response) => {
        if (request.url === '/v1/models') return listing(['painter'])(request, response);
        if (request.url === '/pic.png') return response.writeHead(200, { 'content-type': 'image/png' }).end(bytes);
        const images = [{ type: 'image_url', image_url: { url: `${url}/pic.png` } }];
        const choices = [{ index: 0, delta: { images }, finish_reason: 'stop' }];
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        return response.end(`data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n`);
      });
      const isConfigured = way === 'configured';
      const gateway = await startGateway(
        isConfigured ? `providers: { lmstudio: { kind: openai, baseUrl: '${url}/v1' } }` : '',
      );
      context.after(() => gateway.close());
      const { apiKey: _, ...found } = providerConfig({ kind: 'openai', id: 'lmstudio', baseUrl: `${url}/v1` });
      if (!isConfigured) gateway.app.found([{ ...found, needsKey: false, origin: 'local' }]);
      const events = await converse(gateway, {
        provider: 'lmstudio',
        model: 'painter',
        messages: [{ role: 'user', content: 'A lighthouse' }],
      });
      const said = JSON.stringify(events);
      const media = events.find((event) => event.type === 'content' && event['urls'] !== undefined);
      assert.match(String(media?.['urls']), /^\/media\/\S+\.png$/, said);
      const kept = await fetch(gateway.origin + media?.['urls']);
      assert.deepEqual(Buffer.from(await kept.arrayBuffer()), bytes);
      assert.doesNotMatch(said, /was not kept/);
    });
  }
});
