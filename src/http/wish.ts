import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { knownName } from '../core/known-names.ts';
import type { Wish } from '../routing/select.ts';
import { validate } from './validate.ts';
import { Name } from './wire.ts';

/** What a body says about where it shall go. */
export interface WishFields {
  readonly model?: string | null | undefined;
  /** One name, or several with spaces between them. */
  readonly provider?: string | null | undefined;
  readonly ignored?: readonly string[] | null | undefined;
  /** Models to try when the first one cannot answer. */
  readonly models?: readonly string[] | null | undefined;
}

const NONE: readonly string[] = [];

/** Where a request shall go. What its path names wins over its body. */
export function wishOf({ model, provider, ignored, models }: WishFields, request?: FastifyRequest): Wish {
  const { provider: ofPath, deployment } = (request?.params ?? {}) as { provider?: string; deployment?: string };
  const named = ofPath ?? provider ?? '';
  const names = named === '' ? NONE : named.split(' ').filter((name) => name !== '');
  return {
    model: knownName((deployment === undefined ? model : modelInPath(deployment)) ?? ''),
    // A path that names nobody has lost a word: whoever would answer instead was not meant.
    providers: ofPath !== undefined && names.length === 0 ? [''] : names,
    ignored: ignored ?? NONE,
    ...(models == null ? {} : { fallbacks: models }),
  };
}

const InPath = z.object({ model: Name });

/** A model that a path names is held to what bodies may say: it travels on in the same way. */
export function modelInPath(model: string): string {
  return validate(InPath, { model }, 'invalid_request').model;
}
