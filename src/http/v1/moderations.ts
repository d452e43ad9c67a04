import { z } from 'zod';
import { answerHeaders, withCall } from '../answer.ts';
import type { Deps, Handler } from '../deps.ts';
import type { JsonBody } from '../edge/json-body.ts';
import { perform } from '../perform.ts';
import { askedOf, bodyFor, callOf, TaskFields } from '../task-fields.ts';
import { validate } from '../validate.ts';

const Part = z.looseObject({ type: z.string() });

/** `POST moderations`. Fields that are not listed go to the provider. */
export const ModerationBody = z
  .looseObject({
    ...TaskFields,
    input: z
      .union([z.string(), z.array(z.string()).min(1), z.array(Part).min(1)])
      .describe('A text, texts, or parts `{type: "text"}` and `{type: "image_url"}`'),
  })
  .describe('Texts or pictures to look at for harmful content');

/** What is read of an upstream's answer, which is passed on as it came. */
export const ModerationAnswer = z.looseObject({
  id: z.string(),
  model: z.string(),
  results: z.array(z.looseObject({ flagged: z.boolean().optional() })),
});

/** `POST moderations`: the bytes of an upstream that moderates. */
export function moderations(deps: Deps): Handler {
  return (request, reply) => {
    const json = request.body as JsonBody;
    const body = validate(ModerationBody, json.value, 'invalid_field');
    return withCall(request, reply, deps, callOf(body), async (call) => {
      const answered = await perform(deps, askedOf(request, body), 'moderate', call, (provider, model, scope) =>
        provider.moderate({ model, body: bodyFor(json, model), stream: false }, scope),
      );
      if (answered.value.kind !== 'whole') throw new Error('moderations are not streamed');
      reply
        .headers(answerHeaders(answered))
        .header('content-type', 'application/json; charset=utf-8')
        .send(answered.value.bytes);
    });
  };
}
