/**
 * The measure of the benchmark: what it costs to hand bytes on in Node with its own server and client and nothing
 * else. Takes the upstream's port, prints its own.
 */
import { Agent, createServer, request } from 'node:http';

const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true });

const server = createServer((incoming, outgoing) => {
  const upstream = request({
    agent,
    host: '127.0.0.1',
    port,
    method: incoming.method,
    path: incoming.url,
    headers: { ...incoming.headers, host: `127.0.0.1:${port}` },
  });
  upstream.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
    answer.on('error', () => outgoing.destroy());
  });
  upstream.on('error', (error) => {
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(502).end(error.message);
  });
  outgoing.on('close', () => upstream.destroy());
  incoming.pipe(upstream);
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' ? address?.port : address);
});
