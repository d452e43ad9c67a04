import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAll, takesAtOnce } from './database.ts';

/** As much of a browser's database as is needed to read from it, until its connection is lost. */
class Connection {
  isLost = false;
  onclose: (() => void) | undefined;

  transaction(): object {
    if (this.isLost) throw new DOMException('The connection is lost.', 'InvalidStateError');
    return { objectStore: () => ({ getAll: () => succeeding([]) }) };
  }

  lose(): void {
    this.isLost = true;
    this.onclose?.();
  }
}

/** A request that succeeds as soon as somebody can hear of it. */
function succeeding(result: unknown): object {
  const request: { result: unknown; onsuccess?: () => void } = { result };
  queueMicrotask(() => request.onsuccess?.());
  return request;
}

test('a database whose connection the browser has lost is opened again', async (context) => {
  const connections: Connection[] = [];
  const open = (): object => {
    const connection = new Connection();
    connections.push(connection);
    return succeeding(connection);
  };
  Object.assign(globalThis, { indexedDB: { open } });
  context.after(() => {
    connections.at(-1)?.lose();
    Reflect.deleteProperty(globalThis, 'indexedDB');
  });
  await readAll('chats');
  connections[0]?.lose();
  // A page that goes then has to keep elsewhere what it cannot write at once.
  assert.equal(takesAtOnce(), false);
  assert.deepEqual(await readAll('chats'), []);
  assert.equal(connections.length, 2);
});
