import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Servers on this machine that nothing may reach by an address from outside. */
export interface Canaries {
  /** Their ports: one on 127.0.0.1, one on [::1], one on all interfaces. */
  readonly ports: readonly number[];
  /** Connections that arrived, as texts; stays empty when all is well. */
  readonly hits: readonly string[];
}

/** Starts three canaries, closed after the test. A machine without IPv6 gets a second one on 127.0.0.1. */
export async function startCanaries(context: { after(done: () => void): void }): Promise<Canaries> {
  const hits: string[] = [];
  const ports: number[] = [];
  for (const host of ['127.0.0.1', '::1', '0.0.0.0']) {
    const server = createServer((request, response) => {
      hits.push(`${host} ${request.method} ${request.headers.host}${request.url}`);
      response.writeHead(200, { 'content-type': 'image/png' }).end('canary');
    });
    server.on('connection', () => hits.push(`${host}: a connection`));
    await new Promise<void>((resolve) => {
      server.once('error', () => server.listen(0, '127.0.0.1', resolve));
      server.listen(0, host, resolve);
    });
    context.after(() => {
      server.close();
      server.closeAllConnections();
    });
    ports.push((server.address() as AddressInfo).port);
  }
  return { ports, hits };
}

/** Addresses of this machine, its network and places that are no web server, in the spellings people try. */
export function forbiddenAddresses(port: number): readonly string[] {
  return [
    // loopback by name and number
    ...[
      'localhost',
      'LOCALHOST',
      'LocalHost.',
      '127.0.0.1',
      '127.0.0.1.',
      '127.0.0.2',
      '127.255.255.254',
      '127.1',
      '127.0.1',
      '2130706433',
      '0x7f000001',
      '0X7F000001',
      '0x7f.0.0.1',
      '0x7f.1',
      '0x7f.0.0.0x1',
      '0177.0.0.1',
      '0177.0.0.01',
      '017700000001',
      '00000177.0.0.1',
      '0',
      '0x0',
      '0.0.0.0',
      '0.0.0.1',
      '0.1.2.3',
    ].map((host) => `http://${host}:${port}/x`),
    // the same, encoded or in letters of other scripts, which the URL parser makes plain
    ...[
      '%6c%6f%63%61%6c%68%6f%73%74',
      '127%2e0%2e0%2e1',
      '１２７.０.０.１',
      '①②⑦.⓪.⓪.①',
      '127。0。0。1',
      'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
      'loc\u00adalhost',
    ].map((host) => `http://${host}:${port}/x`),
    // IPv6, and IPv4 inside IPv6
    ...[
      '::1',
      '0:0:0:0:0:0:0:1',
      '0000:0000:0000:0000:0000:0000:0000:0001',
      '::',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::FFFF:127.0.0.1',
      '::127.0.0.1',
      '::7f00:1',
      '::ffff:0:127.0.0.1',
      '64:ff9b::127.0.0.1',
      '64:ff9b::7f00:1',
      '64:ff9b:1::7f00:1',
      '2002:7f00:1::',
      '2002:7f00:1::1',
      '2001:0:7f00:1::1',
      '2001:0:4136:e378:8000:63bf:80ff:fffe',
      '::ffff:169.254.169.254',
      '64:ff9b::a9fe:a9fe',
      'fe80::1',
      'fe80::1%25lo',
      '::1%25lo',
      '::1%lo',
      'fc00::1',
      'fd00:ec2::254',
      'fec0::1',
      'ff02::1',
      '100::1',
      '2001:db8::1',
      '3fff::1',
      '5f00::1',
    ].map((host) => `http://[${host}]:${port}/x`),
    // other networks that are not the public Internet
    ...[
      '10.0.0.1',
      '10.255.255.255',
      '012.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.0.1',
      '0xc0a80001',
      '169.254.169.254',
      '0xa9fea9fe',
      '2852039166',
      '100.64.0.1',
      '100.100.100.200',
      '192.0.0.1',
      '192.0.2.1',
      '192.88.99.1',
      '198.18.0.1',
      '198.51.100.1',
      '203.0.113.1',
      '224.0.0.1',
      '240.0.0.1',
      '255.255.255.255',
    ].map((host) => `http://${host}:${port}/x`),
    // credentials, other slashes, white space, no slashes, https
    `http://user:password@127.0.0.1:${port}/x`,
    `http://example.com@127.0.0.1:${port}/x`,
    `http://127.0.0.1:${port}#@example.com/x`,
    `http://127.0.0.1:${port}?@example.com/x`,
    `http:\\\\127.0.0.1:${port}\\x`,
    `http:/127.0.0.1:${port}/x`,
    `http:127.0.0.1:${port}/x`,
    `HTTP://127.0.0.1:${port}/x`,
    `  http://127.0.0.1:${port}/x`,
    `ht\ntp://127.0.0.1:${port}/x`,
    `http://127.0.\t0.1:${port}/x`,
    `https://127.0.0.1:${port}/x`,
    `https://[::1]:${port}/x`,
    // no web addresses at all
    'file:///etc/passwd',
    'FILE:/etc/passwd',
    `ftp://127.0.0.1:${port}/x`,
    `gopher://127.0.0.1:${port}/_x`,
    `dict://127.0.0.1:${port}/x`,
    `ws://127.0.0.1:${port}/x`,
    `blob:http://127.0.0.1:${port}/x`,
    `view-source:http://127.0.0.1:${port}/x`,
    `jar:http://127.0.0.1:${port}!/x`,
    'javascript:fetch("http://127.0.0.1")',
    'data:text/html,<script>1</script>',
    `//127.0.0.1:${port}/x`,
    '/etc/passwd',
    `127.0.0.1:${port}/x`,
    'http://',
    'http:///x',
    `http://[::1:${port}/x`,
    'http://127.0.0.1:99999/x',
    '',
  ];
}
