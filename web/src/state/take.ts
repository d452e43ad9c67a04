import type { WireChunk, WireUsage } from '../api/chunks.ts';
import type { Failure, MediaPart, Message, Part, Source, Timing, ToolCall, Usage } from './model.ts';

/** Takes chunks of an answer, which arrived at `now`, into its message. Chunks that are not about the message pass by. */
export function takeChunks(message: Message, chunks: readonly WireChunk[], now: number): Message {
  const taken: { -readonly [Key in keyof Message]: Message[Key] } = { ...message };
  for (const chunk of chunks) {
    switch (chunk.type) {
      case 'provider':
        taken.provider = chunk.provider.name;
        taken.label = chunk.provider.label ?? chunk.provider.name;
        if (chunk.provider.model) taken.model = chunk.provider.model;
        break;
      case 'content':
        if (chunk.content === '' && chunk.urls === undefined) break;
        taken.parts = withContent(taken.parts, chunk);
        taken.timing = thoughtUntil(firstAt(taken.timing, now), now);
        delete taken.preview;
        break;
      case 'refusal':
        taken.parts = withText(taken.parts, chunk.refusal);
        taken.timing = thoughtUntil(firstAt(taken.timing, now), now);
        break;
      case 'reasoning':
        if (chunk.token) {
          const timing = firstAt(taken.timing, now);
          taken.reasoning = (taken.reasoning ?? '') + chunk.token;
          taken.timing = timing.reasoningFrom === undefined ? { ...timing, reasoningFrom: now } : timing;
        } else if (chunk.status === '') taken.timing = thoughtUntil(taken.timing ?? { asked: now }, now);
        break;
      case 'tool_calls':
        taken.toolCalls = chunk.tool_calls.reduce(withToolCall, taken.toolCalls ?? []);
        taken.timing = thoughtUntil(firstAt(taken.timing, now), now);
        break;
      case 'tool_result':
        taken.toolCalls = (taken.toolCalls ?? []).map((call) =>
          call.id === chunk.tool_result.id ? { ...call, result: chunk.tool_result.content } : call,
        );
        break;
      case 'source':
        taken.sources = withSource(taken.sources ?? [], chunk.source);
        break;
      case 'sources':
        taken.sources = chunk.sources.reduce(withSource, taken.sources ?? []);
        break;
      case 'preview':
        taken.preview = chunk.preview;
        break;
      case 'suggestions':
        taken.suggestions = chunk.suggestions;
        break;
      case 'log':
        if (chunk.memories !== undefined) taken.memories = chunk.memories;
        else if (!taken.notes?.includes(chunk.log)) taken.notes = [...(taken.notes ?? []), chunk.log];
        break;
      case 'usage':
        taken.usage = sumOf(taken.usageBefore, toUsage(chunk.usage));
        break;
      case 'finish':
        taken.finish = chunk.finish.reason;
        taken.timing = endedAt(taken.timing, now);
        break;
      case 'error':
      case 'auth':
        taken.error = toFailure(chunk, now);
        taken.timing = endedAt(taken.timing, now);
        break;
      default:
        // About the chat (title, conversation), or for nobody here (parameters), or from a newer server.
        break;
    }
  }
  return taken;
}

function withContent(parts: readonly Part[], chunk: Extract<WireChunk, { type: 'content' }>): readonly Part[] {
  if (chunk.urls === undefined) return withText(parts, chunk.content);
  const kind = kindOf(chunk);
  const alt = chunk.alt ? { alt: chunk.alt } : {};
  const [width, height] = ['width', 'height'].map((name) => sizeIn(chunk.content, name));
  const size = width !== undefined && height !== undefined ? { width, height } : {};
  const media = [chunk.urls].flat().map((url): Part => ({ type: 'media', kind, url, ...alt, ...size }));
  // What is said in a sound stands behind its markup, or alone.
  const transcript = kind === 'audio' ? chunk.content.replace(/<audio\b[^<>]*>(\s*<\/audio>)?/gi, '').trim() : '';
  return transcript === '' ? [...parts, ...media] : withText([...parts, ...media], transcript);
}

function kindOf({ content, data }: Extract<WireChunk, { type: 'content' }>): MediaPart['kind'] {
  if (data !== undefined || /<audio\b/i.test(content)) return 'audio';
  return /<video\b/i.test(content) ? 'video' : 'image';
}

/** The size that the markup of a picture names (`data-width="…"`). */
function sizeIn(markup: string, name: string): number | undefined {
  const found = new RegExp(`data-${name}="(\\d{1,5})"`).exec(markup)?.[1];
  return found === undefined ? undefined : Number(found);
}

function withText(parts: readonly Part[], text: string): readonly Part[] {
  const last = parts.at(-1);
  if (last?.type !== 'text') return [...parts, { type: 'text', text }];
  return [...parts.slice(0, -1), { type: 'text', text: last.text + text }];
}

type WireToolCall = Extract<WireChunk, { type: 'tool_calls' }>['tool_calls'][number];

/** The first piece of a call names it; the others prolong its arguments. */
function withToolCall(calls: readonly ToolCall[], piece: WireToolCall): readonly ToolCall[] {
  const index = piece.index ?? calls.length;
  const known = calls.find((call) => call.index === index);
  const fragment = piece.function?.arguments ?? '';
  if (known === undefined) {
    return [...calls, { index, id: piece.id ?? '', name: piece.function?.name ?? '', arguments: fragment }];
  }
  return calls.map((call) => (call === known ? { ...call, arguments: call.arguments + fragment } : call));
}

function withSource(sources: readonly Source[], { url, title, text }: Source): readonly Source[] {
  if (sources.some((source) => source.url === url)) return sources;
  return [...sources, { url, ...(title ? { title } : {}), ...(text ? { text } : {}) }];
}

function toUsage(usage: WireUsage): Usage {
  const cached = usage.prompt_tokens_details?.cached_tokens;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens;
  return {
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens,
    totalTokens: usage.total_tokens,
    ...(cached ? { cachedTokens: cached } : {}),
    ...(reasoning ? { reasoningTokens: reasoning } : {}),
  };
}

function sumOf(before: Usage | undefined, now: Usage): Usage {
  if (before === undefined) return now;
  const names = new Set([...Object.keys(before), ...Object.keys(now)]) as ReadonlySet<keyof Usage>;
  return Object.fromEntries(
    [...names].map((name) => [name, (before[name] ?? 0) + (now[name] ?? 0)]),
  ) as unknown as Usage;
}

function toFailure(chunk: Extract<WireChunk, { type: 'error' | 'auth' }>, now: number): Failure {
  const seconds = chunk.type === 'error' ? chunk.retry_after : undefined;
  const name = chunk.type === 'auth' ? chunk.auth : chunk.error;
  return {
    // The class name in front is for programs.
    message: (chunk.message ?? name).replace(/^\w+Error: /, ''),
    ...(chunk.code === undefined ? {} : { code: chunk.code }),
    ...(chunk.type === 'auth' ? { needsKey: true } : {}),
    ...(seconds === undefined ? {} : { retryAt: now + seconds * 1_000 }),
  };
}

/** A clock that is set back meanwhile makes nothing take less than no time. */
function firstAt(timing: Timing | undefined, now: number): Timing {
  if (timing === undefined) return { asked: now, first: now };
  return timing.first === undefined ? { ...timing, first: Math.max(now, timing.asked) } : timing;
}

function thoughtUntil(timing: Timing, now: number): Timing {
  if (timing.reasoningFrom === undefined || timing.reasoning !== undefined) return timing;
  return { ...timing, reasoning: now - timing.reasoningFrom };
}

/** The timing of an answer that is gone on with: as if there had been no pause since it ended. */
export function resumedAt({ ended, reasoning, ...moments }: Timing, now: number): Timing {
  const pause = ended === undefined ? 0 : now - ended;
  const moved = Object.entries(moments).map(([name, moment]) => [name, moment + pause]);
  return { ...(Object.fromEntries(moved) as typeof moments), ...(reasoning === undefined ? {} : { reasoning }) };
}

/** Closes what is open in the timing. */
export function endedAt(timing: Timing | undefined, now: number): Timing {
  const so = thoughtUntil(timing ?? { asked: now }, now);
  return { ...so, ended: Math.max(now, so.first ?? so.asked) };
}
