import type { LanguageModelV4ReasoningPart, SharedV4ProviderMetadata } from '@ai-sdk/provider';

const MOST_ENTRIES = 1_000;
const MOST_CHARACTERS = 8 * 1024 * 1024;

/** What a model thought before it called a tool, with the vendor's signatures. */
export interface SignedThought {
  readonly reasoning: readonly LanguageModelV4ReasoningPart[];
  /** What the vendor attached to the call itself. */
  readonly callOptions?: SharedV4ProviderMetadata;
}

/**
 * Signed thoughts by tool call. Vendors want them back, unchanged, with the tool's result, but clients of the OpenAI
 * format have no place to keep them; they do send the call's id back. What is forgotten costs the model its train of
 * thought, or with older Claude models that were asked to think, a refusal in the vendor's words.
 */
export class SignedThoughts {
  readonly #thoughts = new Map<string, { readonly thought: SignedThought; readonly size: number }>();
  #characters = 0;

  remember(callId: string, thought: SignedThought): void {
    this.#forget(callId);
    const size = JSON.stringify(thought).length;
    this.#thoughts.set(callId, { thought, size });
    this.#characters += size;
    for (const oldest of this.#thoughts.keys()) {
      if (this.#thoughts.size <= MOST_ENTRIES && this.#characters <= MOST_CHARACTERS) break;
      this.#forget(oldest);
    }
  }

  recall(callId: string): SignedThought | undefined {
    return this.#thoughts.get(callId)?.thought;
  }

  #forget(callId: string): void {
    const known = this.#thoughts.get(callId);
    if (known === undefined) return;
    this.#thoughts.delete(callId);
    this.#characters -= known.size;
  }
}
