import { createSocket } from 'node:dgram';
import { once } from 'node:events';

const TYPE_A = 1;
const TYPE_AAAA = 28;

export interface NameServer {
  /** For `Resolver.setServers`. */
  readonly address: string;
  /** Questions for IPv4 addresses so far. */
  readonly questions: readonly string[];
}

/**
 * A real name server on a free UDP port of loopback (RFC 1035). `answer` gives the IPv4 addresses of a name, and may give
 * others each time; there are no IPv6 ones. Nothing may be cached: the time to live is 0.
 */
export async function startNameServer(
  context: { after(done: () => void): void },
  answer: (name: string, nth: number) => readonly string[],
): Promise<NameServer> {
  const questions: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, { address, port }) => {
    const { name, type, end } = readQuestion(query);
    let addresses: readonly string[] = [];
    if (type === TYPE_A) {
      addresses = answer(name, questions.filter((each) => each === name).length);
      questions.push(name);
    }
    if (type === TYPE_A || type === TYPE_AAAA) socket.send(reply(query, end, addresses), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  context.after(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, questions };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length !== 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function reply(query: Buffer, end: number, addresses: readonly string[]): Buffer {
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2); // id
  head.writeUInt16BE(0x8580, 2); // an answer, authoritative, recursion available
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  const records = addresses.map((address) =>
    Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([head, query.subarray(12, end), ...records]);
}
