import { after, before, describe, test } from 'node:test';
import type { VendorToolCall } from '../support/vendor-script.ts';
import { assertHolds, type ByFormat, FORMATS, openWorld, type Seat, type World } from './sdk-vendors.ts';

/** What an ability is tried with: an official client, and the upstream as the test plays it. */
export interface Trial<Client, Place = Seat> {
  readonly client: Client;
  readonly seat: Place;
}

/** The abilities of a client with any upstream, by name. Each rejects where it is missing. */
export type Abilities<Client, Place = Seat> = Readonly<Record<string, (trial: Trial<Client, Place>) => Promise<void>>>;

/** Tries a client with an upstream of every format. `yaml` goes after the providers. */
export function tryAbilities<Client>(
  title: string,
  abilities: Abilities<Client>,
  connect: (world: World) => Client,
  yaml = '',
): void {
  describe(title, { timeout: 60_000 }, () => {
    let world: World;
    let client: Client;
    before(async () => {
      world = await openWorld(yaml);
      client = connect(world);
    });
    after(() => world.close());

    for (const format of FORMATS) {
      describe(`before an upstream of ${format}'s format`, () => {
        for (const [name, trial] of Object.entries(abilities)) {
          test(name, () => trial({ client, seat: world.seat(format) }));
        }
      });
    }
  });
}

/** Checks what the upstream got at last. */
export function got(seat: Seat, expected: ByFormat<object>): void {
  assertHolds(seat.last.body, expected[seat.format]);
}

export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** How the pixel and the word `What?` reach an upstream. */
export const PIXEL_ASKED = {
  openai: {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
          { type: 'text', text: 'What?' },
        ],
      },
    ],
  },
  anthropic: {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
          { type: 'text', text: 'What?' },
        ],
      },
    ],
  },
  google: {
    contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: PIXEL } }, { text: 'What?' }] }],
  },
} as const satisfies ByFormat<object>;

/** Two calls at once, their arguments in fragments that respect nothing. */
export const CALLS: readonly VendorToolCall[] = [
  { id: 'call_w', name: 'weather', arguments: ['{"ci', 'ty":"Pa', 'ris \\u00e9', '"}'] },
  { id: 'call_t', name: 'time', arguments: ['{"zone', '":"C', 'ET"}'] },
];
