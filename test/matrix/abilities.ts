import assert from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import { inTurns } from '../support/turns.ts';
import type { VendorAnswer, VendorToolCall } from '../support/vendor-script.ts';
import type { Overheard } from './overhear.ts';
import {
  type Ability,
  type Call,
  type Connected,
  type Heard,
  type MatrixClient,
  type Option,
  PIXEL,
  QUESTION,
  RESULT,
  SECOND_RESULT,
  SECOND_TOOL,
  SYSTEM,
  TOOL,
  type Turn,
  WANTED,
} from './vocabulary.ts';
import type { Seat } from './world.ts';

/** One client before one upstream. */
export interface Trial {
  readonly client: MatrixClient;
  readonly connected: Connected;
  /** The same client, which wants to hear of losses as errors. */
  readonly strict: Connected;
  readonly seat: Seat;
  readonly overheard: Overheard;
}

/** What of an ability has no place on the way. */
export interface Outcome {
  /** Fields of the request, as `x-sluice-dropped` named them. */
  readonly dropped: readonly string[];
  /** What the client's own format cannot tell it. */
  readonly untold: readonly string[];
}

const TEXT = ['Grü', 'ße 🌍', '!'];
let calls = 0;
/** Two calls at once, their arguments in fragments that respect nothing; ids are new each time, as vendors make them. */
function newCalls(): readonly [VendorToolCall, VendorToolCall] {
  calls += 1;
  return [
    { id: `call_w${calls}`, name: TOOL.name, arguments: ['{"ci', 'ty":"Pa', 'ris \\u00e9', '"}'] },
    { id: `call_t${calls}`, name: SECOND_TOOL.name, arguments: ['{"zone', '":"C', 'ET"}'] },
  ];
}
const MADE: readonly Call[] = [
  { name: TOOL.name, input: { city: 'Paris é' } },
  { name: SECOND_TOOL.name, input: { zone: 'CET' } },
];
const LAST_WORDS: VendorAnswer = { text: ['Warm', '.'] };

/** The abilities: each plays the upstream, lets the client do its part, and looks at what reached either end. */
export const TRIALS: Readonly<Record<Ability, (trial: Trial) => Promise<Outcome>>> = {
  async text(trial) {
    const { client, seat } = trial;
    seat.answers({ text: TEXT });
    const { heard, dropped } = await asking(trial, ['temperature', 'topK', 'maxTokens', 'stop', 'seed'], (connected) =>
      connected.text(seat.model),
    );
    hasSaid(heard, TEXT.join(''), client.finishes.stop);
    assert.equal(seat.arrived.system, SYSTEM);
    assert.deepEqual(seat.arrived.turns, [ASKED]);
    return { dropped, untold: [] };
  },

  async stream({ client, connected, seat }) {
    seat.answers({ text: TEXT });
    hasSaid(await connected.stream(seat.model), TEXT.join(''), client.finishes.stop);
    assert.deepEqual(seat.arrived.turns, [ASKED]);
    const { heard, ...answer } = inTurns(TEXT);
    seat.answers(answer);
    const pieces: string[] = [];
    await connected.listen(seat.model, (piece) => {
      if (piece !== '') pieces.push(piece);
      heard(piece);
    });
    assert.deepEqual(pieces, TEXT, 'each piece comes before the next is said');
    return NO_LOSS;
  },

  async tools(trial) {
    const { seat } = trial;
    const [call] = newCalls();
    seat.answers({ text: ['Let me look.'], toolCalls: [call] }, LAST_WORDS);
    const { heard, dropped } = await asking(
      trial,
      ['toolChoice'],
      (connected) => connected.tools(seat.model),
      () => seat.upstream.read(seat.seen[0]?.body).options,
    );
    assert.equal(heard.text, 'Warm.');
    assert.deepEqual(heard.calls, MADE.slice(0, 1));
    assert.equal(seat.seen.length, 2, 'one question, one result');
    const [tool, ...more] = seat.arrived.tools;
    assert.equal(more.length, 0);
    assert.equal(tool?.name, TOOL.name);
    holds(tool.parameters, { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] });
    assert.deepEqual(seat.arrived.turns, [
      ASKED,
      { role: 'assistant', text: 'Let me look.', calls: MADE.slice(0, 1), ...signed(seat, call.id) },
      { role: 'results', results: [{ name: TOOL.name, text: RESULT }] },
    ]);
    return { dropped, untold: [] };
  },

  async 'parallel tools'(trial) {
    const { client, connected, seat } = trial;
    const made = newCalls();
    seat.answers({ toolCalls: made }, LAST_WORDS);
    const heard = await connected.parallelTools(seat.model);
    hasSaid(heard, 'Warm.', client.finishes.calls);
    assert.deepEqual(heard.calls, MADE);
    assert.deepEqual(seat.arrived.turns, [
      ASKED,
      { role: 'assistant', text: '', calls: MADE, ...signed(seat, made[0].id) },
      {
        role: 'results',
        results: [
          { name: TOOL.name, text: RESULT },
          { name: SECOND_TOOL.name, text: SECOND_RESULT },
        ],
      },
    ]);
    if (connected.oneCall === undefined) return NO_LOSS;
    seat.answers({ text: TEXT });
    const { dropped } = await asking(trial, ['oneCall'], (each) => each.oneCall?.(seat.model) ?? Promise.reject());
    return { dropped, untold: [] };
  },

  async vision(trial) {
    const { client, seat } = trial;
    seat.answers({ text: ['A dot.'] });
    const { heard, dropped } = await asking(trial, ['detail'], (connected) => connected.vision(seat.model));
    hasSaid(heard, 'A dot.', client.finishes.stop);
    assert.deepEqual(seat.arrived.turns, [{ role: 'user', text: QUESTION, images: [PIXEL] }]);
    return { dropped, untold: [] };
  },

  async 'structured output'(trial) {
    const { seat } = trial;
    seat.answers({ text: ['{"city":"Rom",', '"degrees":21}'] });
    const { heard, dropped } = await asking(trial, ['schema'], (connected) => connected.structured(seat.model));
    assert.deepEqual(heard, { city: 'Rom', degrees: 21 });
    return { dropped, untold: [] };
  },

  async 'JSON of any form'(trial) {
    const { client, connected, seat } = trial;
    assert.equal(connected.anyJson === undefined, client.words.anyJson === undefined);
    if (connected.anyJson === undefined) return { dropped: [], untold: ['unasked'] };
    seat.answers({ text: ['{"city":"Rom",', '"degrees":21}'] });
    const { heard, dropped } = await asking(
      trial,
      ['anyJson'],
      (each) => each.anyJson?.(seat.model) ?? Promise.reject(),
    );
    assert.deepEqual(JSON.parse(heard), { city: 'Rom', degrees: 21 });
    return { dropped, untold: [] };
  },

  async reasoning(trial) {
    const { client, seat } = trial;
    const { upstream } = seat;
    const [call] = newCalls();
    seat.answers({ reasoning: ['Let me ', 'think.'], toolCalls: [call] }, LAST_WORDS);
    const { heard, dropped } = await asking(trial, ['effort'], (connected) => connected.reasoning(seat.model));
    assert.equal(heard.text, 'Warm.');
    assert.equal(heard.thoughts, 'Let me think.');
    assert.deepEqual(heard.calls, MADE.slice(0, 1));
    const said = seat.arrived.turns.at(-2);
    assert.equal(said?.role, 'assistant');
    // Whoever signed the thoughts gets them back, whether or not the client's format has a place for a signature.
    assert.equal(said.signature, upstream.signature?.(call.id));
    const isKept = upstream.signature !== undefined && upstream.signsCalls !== true;
    if (isKept || client.handsBackThoughts) assert.equal(said.thoughts, 'Let me think.');
    else assert.equal(said.thoughts, undefined);
    return { dropped, untold: [] };
  },

  async usage({ client, connected, seat }) {
    seat.answers({ text: TEXT, usage: { prompt: 20, completion: 9, cached: 5, reasoning: 4 } });
    const { deaf = {} } = client;
    for (const counts of await connected.usage(seat.model)) {
      assert.deepEqual([counts.prompt, counts.completion], [20, 9]);
      assert.equal(counts.cached, deaf.cached === undefined ? 5 : undefined);
      assert.equal(counts.reasoning, deaf.reasoningTokens === undefined ? 4 : undefined);
    }
    return { dropped: [], untold: Object.keys(deaf) };
  },

  async error({ client, connected, seat }) {
    for (const status of [400, 404, 429]) {
      seat.answers({ status, errorMessage: 'Not like this.', headers: { 'retry-after': '30' } });
      const failure = await failing(client, () => connected.ask(seat.model));
      assert.equal(failure.status, status);
      assert.match(failure.message, /Not like this\./);
      // A stream that has not begun fails the same way.
      seat.answers({ status, errorMessage: 'Not like this.', headers: { 'retry-after': '30' } });
      const refused = await failing(client, () => connected.listen(seat.model, () => {}));
      assert.equal(refused.status, status);
    }
    seat.answers({ text: ['Well', ', '], errorAfter: 1, errorMessage: 'Overheated.', delayMs: 20 });
    let text = '';
    const failure = await failing(client, () =>
      connected.listen(seat.model, (piece) => {
        text += piece;
      }),
    );
    assert.equal(text, 'Well');
    assert.match(failure.message, /Overheated\.|Incomplete JSON segment/);
    return NO_LOSS;
  },

  async abort({ connected, seat }) {
    seat.answers({ text: ['One', 'Two', 'Three'], stallAfter: 2 });
    await connected.leave(seat.model);
    assert.equal(await seat.last.closed, 'aborted');
    if (connected.giveUp === undefined) return NO_LOSS;
    seat.answers({ silent: true });
    const leaving = new AbortController();
    const given = assert.rejects(connected.giveUp(seat.model, leaving.signal));
    await eventually('it is asked', () => seat.seen.length > 0);
    leaving.abort();
    await given;
    assert.equal(await seat.last.closed, 'aborted');
    return NO_LOSS;
  },
};

const ASKED: Turn = { role: 'user', text: QUESTION, images: [] };
const NO_LOSS: Outcome = { dropped: [], untold: [] };

/**
 * Lets the client ask for options. Each of them that its API knows has to reach the upstream, or to be named in the header
 * `x-sluice-dropped`, which a client that is strict gets as a 400 instead; and no others may be named.
 */
async function asking<T>(
  trial: Trial,
  options: readonly Option[],
  ask: (connected: Connected) => Promise<T>,
  arrived = (): Partial<Record<Option, unknown>> => trial.seat.arrived.options,
): Promise<{ heard: T; dropped: readonly string[] }> {
  const { client, connected, strict, seat, overheard } = trial;
  const lost: string[] = [];
  const kept: Option[] = [];
  for (const option of options) {
    const word = client.words[option];
    if (word === undefined) continue;
    if (seat.upstream.cannot[option] === undefined) kept.push(option);
    else lost.push(word);
  }
  overheard.start();
  const heard = await ask(connected);
  assert.deepEqual(overheard.dropped, lost.toSorted(), 'x-sluice-dropped');
  const got = arrived();
  assert.deepEqual(
    Object.fromEntries(kept.map((option) => [option, got[option]])),
    Object.fromEntries(kept.map((option) => [option, WANTED[option]])),
  );
  if (lost.length > 0) {
    const failure = await failing(client, () => ask(strict));
    assert.equal(failure.status, 400);
    assert.ok(
      lost.some((word) => failure.message.includes(`'${word}'`)),
      failure.message,
    );
  }
  return { heard, dropped: lost.toSorted() };
}

/** How something fails, as the client's own class of errors tells it. */
async function failing(
  client: MatrixClient,
  ask: () => Promise<unknown>,
): Promise<{ status: number | undefined; message: string }> {
  let thrown: unknown;
  try {
    await ask();
  } catch (error) {
    thrown = error;
  }
  assert.notEqual(thrown, undefined, 'it does not fail');
  const failure = client.failure(thrown);
  assert.ok(failure !== undefined, `not an error of this client: ${String(thrown)}`);
  return failure;
}

function hasSaid(heard: Heard, text: string, finish: string): void {
  assert.equal(heard.text, text);
  assert.equal(heard.finish, finish);
}

/** Gemini signs calls even where it shows no thoughts. */
function signed({ upstream }: Seat, id: string): Pick<Turn, 'signature'> {
  return upstream.signsCalls === true && upstream.signature !== undefined ? { signature: upstream.signature(id) } : {};
}

/** Checks the members of `expected`; schemas may say more than what was asked, in any case of letters. */
function holds(actual: unknown, expected: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(expected)) {
    const found = (actual as Record<string, unknown> | undefined)?.[name];
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      holds(found, value as Record<string, unknown>);
    } else if (typeof value === 'string') assert.equal(String(found).toLowerCase(), value);
    else assert.deepEqual(found, value);
  }
}
