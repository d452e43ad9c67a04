import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { SluiceError } from '../../core/errors.ts';
import { STATUS_CODES } from '../../core/node-http.ts';
import { errorBody, LINGER_MS } from './errors.ts';

/** Node's handler for bytes that are no HTTP request: they get one answer, and their connection ends. */
export function brokenRequests(): (error: Error & { code?: string }, socket: Socket) => void {
  /** They have had their last word; what else comes on them is passed over. */
  const ending = new WeakSet<Socket>();
  return (error, socket) => {
    if (ending.has(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    ending.add(socket);
    refuse(socket, encode(failureOf(error)));
  };
}

/** Refuses what came on a connection once everything before it has its answer. */
function refuse(socket: Socket, answer: string): void {
  // Whose answer was the last one this connection was to have.
  if (!socket.writable) return;
  // Node's own handler looks there too (lib/_http_server.js): the answer that has the connection now.
  const running = (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
  // Ours, in the middle of another answer, would be taken for its text.
  if (running?.req.complete === true) running.once('finish', () => refuse(socket, answer));
  // The broken bytes are its own request's, which has an answer already.
  else if (running?.headersSent === true) running.once('finish', () => socket.destroySoon());
  else {
    socket.end(answer);
    // Time to read the answer: closing with bytes unread would take it back (RFC 9112 §9.6).
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }
}

function failureOf({ code }: { readonly code?: string }): SluiceError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new SluiceError('header_too_large', 'The header of the request is too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new SluiceError('request_timeout', 'The request took too long to arrive.');
    default:
      return new SluiceError('invalid_request', 'This is not a valid HTTP request.');
  }
}

function encode(failure: SluiceError): string {
  const body = JSON.stringify(errorBody(failure));
  return (
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}\r\ncontent-type: application/json; charset=utf-8\r\n` +
    `x-content-type-options: nosniff\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`
  );
}
