import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { EventDecoder, type StreamEvent } from './events.ts';

function decode(pieces: readonly string[]): StreamEvent[] {
  const decoder = new EventDecoder();
  return pieces.flatMap((piece) => decoder.take(piece));
}

const STREAM =
  ': heartbeat\n\nid: 7\nevent: content\ndata: {"type":"content","content":"a\\nb"}\n\ndata:one\r\ndata: two\r\n\r\nid: x\n\ndata: {"cut":';

describe('the decoder of event streams', () => {
  test('reads ids, comments, several lines and both kinds of line ends', () => {
    assert.deepEqual(decode([STREAM]), [{ id: 7, data: '{"type":"content","content":"a\\nb"}' }, { data: 'one\ntwo' }]);
  });

  test('gives the same events however the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(STREAM.length)), (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), STREAM.length];
        const pieces = at.slice(1).map((end, index) => STREAM.slice(at[index], end));
        assert.deepEqual(decode(pieces), decode([STREAM]));
      }),
    );
  });
});
