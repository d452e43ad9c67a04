import {
  askChat,
  askConversation,
  type Json,
  type Received,
  readChatStream,
  readCompletion,
  readConversation,
  type Said,
} from './wire-answers.ts';

/** A way to ask for an answer, and to read it with all that its wire format promises. */
export interface Way {
  ask(origin: string, body: Json): Promise<Received>;
  read(received: Received): Said;
  /** Nothing is sent before the answer is whole, so a failure in the middle is a refusal. */
  readonly isWhole?: true;
}

const streamed: Way = {
  ask: (origin, body) => askChat(origin, { ...body, stream: true }),
  read: (received) => readChatStream(received),
};
const withUsage: Way = {
  ask: (origin, body) => askChat(origin, { ...body, stream: true, stream_options: { include_usage: true } }),
  read: (received) => readChatStream(received, { wantsUsage: true }),
};
const whole: Way = { ask: askChat, read: readCompletion, isWhole: true };
const conversation: Way = { ask: askConversation, read: (received) => readConversation(received) };

export const WAYS: Readonly<Record<string, Way>> = {
  'dialect B, streamed': streamed,
  'dialect B, streamed, usage asked for': withUsage,
  'dialect B, whole': whole,
  'dialect A': conversation,
};

/** The same where it makes no difference whether usage is asked for. */
export const MAIN_WAYS: Readonly<Record<string, Way>> = {
  'dialect B, streamed': streamed,
  'dialect B, whole': whole,
  'dialect A': conversation,
};
