import { createHash, randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { SluiceError } from '../../core/errors.ts';
import type { ChatRecord } from '../../core/stores.ts';
import type { Deps, Handler } from '../deps.ts';
import { bodyValue, parseId } from '../edge/body.ts';
import { cookieOf } from '../edge/guard.ts';
import type { JsonBody } from '../edge/json-body.ts';
import { setLastingCookie } from '../edge/lasting-cookie.ts';
import { ownerByKey } from '../keys.ts';
import { validate } from '../validate.ts';
import { sendTagged } from './tagged.ts';
import { ChatBody } from './wire.ts';

/** Holds the secret of whoever shares chats from a browser. */
const OWNER_COOKIE = 'sluice_owner';

/** How far a client's clock may be ahead. A version of a later time than that would keep all others out for as long. */
const MOST_AHEAD_MS = 24 * 60 * 60_000;

/** `GET chat/<share_id>`: what its owner uploaded. 304 while the reader has the present version. */
export function getChat(deps: Deps): Handler {
  return async (request, reply) => {
    const id = parseId((request.params as { id: string }).id, 'share_id');
    const chat = await deps.stores.chats.get(id);
    if (chat === undefined) throw new SluiceError('not_found', 'Not found: no chat is shared under this id.');
    const [json, value] =
      typeof chat.body === 'string' ? [chat.body, JSON.parse(chat.body)] : [JSON.stringify(chat.body), chat.body];
    // Without a time stamp only the content tells one version from another.
    const hasStamp = typeof (value as { readonly updated?: unknown }).updated === 'number';
    return sendTagged(request, reply, json, hasStamp ? String(chat.updated) : undefined);
  };
}

/**
 * `POST chat/<share_id>`: shares a chat, or a newer version of it. The first writer owns the share; nobody else can change
 * it. The owner is known by a cookie that the first answer sets, or by the access key where there is one.
 */
export function postChat(deps: Deps): Handler {
  return async (request, reply) => {
    const id = parseId((request.params as { id: string }).id, 'share_id');
    // Numbers of more digits than JavaScript knows would lose some if they were written anew.
    const body = (request.body as JsonBody).bytes.toString('utf8');
    const { updated } = validate(ChatBody, bodyValue(request), 'invalid_request');
    const { owner, secret } = ownerOf(request, deps);
    const next: ChatRecord = { id, owner, updated: updated ?? 0, body };
    const stored = await deps.stores.chats.update(id, (present) => {
      if (present === undefined) return next;
      // A repeated request changes nothing, whoever sends it.
      if (present.body === body) return undefined;
      // A client that does not say how old its version is has no older one.
      const isOlder = updated != null && updated < present.updated;
      if (isOlder && present.updated <= Date.now() + MOST_AHEAD_MS) {
        throw new SluiceError('conflict', `A newer version of this chat is stored (updated ${present.updated}).`, {
          param: 'updated',
        });
      }
      if (present.owner !== owner) throw new SluiceError('forbidden', 'Only the owner of a shared chat can change it.');
      return next;
    });
    if (secret !== undefined && stored?.owner === owner) setLastingCookie(reply, OWNER_COOKIE, secret);
    return { share_id: id };
  };
}

/** Whether a request may change what `owner` owns. */
export function isOwner(request: FastifyRequest, deps: Deps, owner: string | null): boolean {
  return ownerOf(request, deps).owner === owner;
}

/** The caller as an owner; `secret` is there when it was made up for this request and has to be handed out. */
function ownerOf(request: FastifyRequest, deps: Deps): { readonly owner: string; readonly secret?: string } {
  const { key } = deps.config();
  if (key !== undefined) return { owner: ownerByKey(key) };
  const known = cookieOf(request.headers.cookie, OWNER_COOKIE);
  if (known !== undefined && /^[A-Za-z0-9_-]{43}$/.test(known)) return { owner: hash(known) };
  const secret = randomBytes(32).toString('base64url');
  return { owner: hash(secret), secret };
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
