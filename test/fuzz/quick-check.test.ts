import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { ConversationBody } from '../../src/http/backend/wire.ts';
import { GenerateContentBody } from '../../src/http/gemini/wire.ts';
import { MessagesBody } from '../../src/http/messages/wire.ts';
import { ChatBody, GenerateBody } from '../../src/http/ollama/wire.ts';
import { quickCheck } from '../../src/http/quick-check.ts';
import { ResponseBody } from '../../src/http/responses/wire.ts';
import { ChatCompletionBody } from '../../src/http/v1/wire.ts';
import { property } from './cases.ts';
import { hostile, type Schema, SchemaValues, spoilt } from './schema-values.ts';

const CASES = 250;

/** The schema, and whether most of what fits has to be accepted at once. */
const SCHEMAS: Readonly<Record<string, readonly [schema: z.ZodType, isQuick: boolean]>> = {
  'chat completions': [ChatCompletionBody, true],
  conversation: [ConversationBody, true],
  responses: [ResponseBody, false],
  messages: [MessagesBody, false],
  generateContent: [GenerateContentBody, false],
  'Ollama chat': [ChatBody, true],
  'Ollama generate': [GenerateBody, true],
  'all that the check knows': [
    z.looseObject({
      name: z
        .string()
        .min(1)
        .max(5)
        .regex(/^[^x]*$/),
      whole: z.int().min(-3).max(3).optional(),
      number: z.number().gt(0).lt(1).nullish(),
      flag: z.boolean().nullable(),
      word: z.enum(['one', 'two']).optional(),
      any: z.unknown(),
      list: z.array(z.union([z.string(), z.looseObject({ a: z.literal(1) }), z.looseObject({ b: z.string() })])).max(3),
      record: z.record(z.string(), z.number()).optional(),
      form: z
        .discriminatedUnion('type', [
          z.looseObject({ type: z.literal('a'), text: z.string() }),
          z.looseObject({ type: z.literal('b'), count: z.int() }),
        ])
        .optional(),
    }),
    true,
  ],
  'what it must leave alone': [
    z.object({
      trimmed: z.string().trim().optional(),
      defaulted: z.string().default('x'),
      coerced: z.coerce.number().optional(),
      refined: z
        .string()
        .refine((text) => text.length > 2)
        .optional(),
      first: z.union([z.object({ a: z.unknown() }), z.looseObject({ a: z.unknown(), b: z.unknown() })]).optional(),
      piped: z.string().pipe(z.transform(Number)).optional(),
      mail: z.email().optional(),
      float: z.float32().optional(),
    }),
    false,
  ],
};

describe('what is accepted at once', () => {
  test('not what the schema would make something of', () => {
    const inner = { type: 'string' } as const;
    for (const [field, value] of [
      [z.string().default('x'), {}],
      [z.string().default('x').optional(), {}],
      [z.string().default('x').nullable().optional(), {}],
      [z.string().prefault('x'), {}],
      [z.string().catch('x'), { field: 5 }],
      [z.string(), {}],
      [z.string().nullable(), {}],
      [z.string().optional(), { other: 1 }],
      [z.string().toUpperCase(), { field: 'x' }],
      [z.stringbool(), { field: 'true' }],
      [z.coerce.boolean(), { field: 1 }],
      [z.record(z.string().max(2), z.unknown()), { field: inner }],
      [z.record(z.enum(['type', 'more']), z.unknown()), { field: inner }],
      [z.record(z.string(), z.unknown()), { field: JSON.parse('{"__proto__":1}') }],
      [z.looseObject({}), { field: JSON.parse('{"__proto__":1}') }],
      [z.object({}).catchall(z.number()), { field: { a: 'x' } }],
      [z.looseObject({ type: z.string() }).refine(() => false), { field: inner }],
      [z.array(z.string()).refine(() => false), { field: [] }],
      [z.string().regex(/x/g), { field: 'x' }],
    ] as const) {
      assert.equal(quickCheck(z.object({ field }))(value), false, `${field.def.type} ${JSON.stringify(value)}`);
    }
  });

  for (const [name, [schema, isQuick]] of Object.entries(SCHEMAS)) {
    test(`${name}: is what the schema accepts, and leaves as it is`, async (context) => {
      const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
      const values = new SchemaValues(json as Schema, () => undefined);
      const check = quickCheck(schema);
      let fitting = 0;
      let quick = 0;
      await property(CASES, (random) => {
        const right = values.fitting(json as Schema, random);
        const made = random.chance(0.5) ? right : random.chance(0.8) ? spoilt(right, random) : hostile(random);
        // As it is after its way over the wire.
        const value: unknown = JSON.parse(JSON.stringify(made) ?? 'null');
        const isAccepted = check(value);
        const parsed = isAccepted ? schema.safeParse(value) : undefined;
        if (parsed !== undefined) assert.deepEqual(parsed, { success: true, data: value }, JSON.stringify(value));
        if (made !== right || !schema.safeParse(value).success) return;
        fitting += 1;
        if (isAccepted) quick += 1;
      });
      context.diagnostic(`${quick} of ${fitting} were accepted`);
      if (isQuick && fitting > 50) assert.ok(quick > fitting / 2, `only ${quick} of ${fitting} were accepted`);
    });
  }
});
