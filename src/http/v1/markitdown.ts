import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { SluiceError, unreachable } from '../../core/errors.ts';
import { archiveText, type Conversion } from '../../documents/conversion.ts';
import { withCall } from '../answer.ts';
import type { Deps, Handler } from '../deps.ts';
import { recordingOf } from '../recording.ts';
import { type AudioForm, readAudioForm } from './audio-form.ts';
import { transcribe } from './audio-transcriptions.ts';

/** Who did it, in answers: nobody was asked. */
const ABOUT = { model: 'markitdown', provider: 'sluice' } as const;

/** `title`: only of a document that has one. */
export const MarkItDownAnswer = z.looseObject({
  text: z.string(),
  model: z.string(),
  provider: z.string(),
  title: z.string().optional(),
});

/** `POST /api/markitdown`: the text of a document as markdown, or of a recording. */
export function markitdown(deps: Deps): Handler {
  return async (request, reply) => {
    const form = await readAudioForm(request, deps);
    const recording = recordingOf(form.file.bytes);
    if (recording !== undefined) return transcribe(request, reply, deps, form, recording, 'transcribe');
    return convert(request, reply, deps, form);
  };
}

function convert(request: FastifyRequest, reply: FastifyReply, deps: Deps, { file }: AudioForm): Promise<FastifyReply> {
  return withCall(request, reply, deps, {}, async (call) => {
    const { filename: name, bytes } = file;
    const conversion = await deps.converter.convert({ name, bytes }, { signal: call.signal });
    reply.send({ ...textOf(conversion, 'file'), ...ABOUT });
  });
}

/** What a file says. One that says nothing is refused; `param` is where it came from. */
export function textOf(conversion: Conversion, param: string): { readonly text: string; readonly title?: string } {
  const unusable = (reason: string): SluiceError =>
    new SluiceError('unsupported_media_type', `The file ${reason}.`, { param });
  switch (conversion.kind) {
    case 'markdown': {
      const { text, title } = conversion;
      return { text, ...(title === undefined ? {} : { title }) };
    }
    case 'text':
      return { text: conversion.text };
    case 'archive':
      return { text: archiveText(conversion.entries) };
    case 'image':
    case 'audio':
    case 'video':
      throw unusable(`is ${conversion.kind === 'image' ? 'an image' : conversion.kind}, which holds no text`);
    case 'rejected':
      if (conversion.isOverLimit !== true) throw unusable(conversion.reason);
      throw new SluiceError('invalid_field', `The file ${conversion.reason}.`, { param });
    default:
      return unreachable(conversion);
  }
}
