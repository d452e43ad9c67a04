import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SluiceError } from '../../core/errors.ts';
import type { Deps } from '../deps.ts';
import { metrics } from './metrics.ts';

/** Addresses of other machines cannot be had on the loopback device, so this one is asked directly. */
async function codeFor(ip: string, key?: string): Promise<string | undefined> {
  const observer = { streams: 0, ledger: { render: async () => 'text' } };
  const deps = { observer, config: () => ({ key }), calls: { running: 0 }, version: '0' };
  const request = { headers: {}, socket: { remoteAddress: ip } } as FastifyRequest;
  const reply = { header: () => reply, send: () => undefined };
  try {
    await metrics(deps as unknown as Deps)(request, reply as unknown as FastifyReply);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof SluiceError, String(error));
    return error.code;
  }
}

test('without an access key, metrics are for this machine alone', async () => {
  for (const ip of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
    assert.equal(await codeFor(ip), undefined, ip);
  for (const ip of ['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1', '10.0.0.1']) {
    assert.equal(await codeFor(ip), 'forbidden', ip);
    assert.equal(await codeFor(ip, 'a-key'), undefined, 'the guard has looked at the key before');
  }
});
