import type { Secrets } from '../core/secrets.ts';
import type { AnswerContent, Content, Observation } from './observation.ts';
import { redact, redactText } from './redact.ts';

/** What may be kept of a request and its answer. */
export function contentOf({ body, tap }: Observation, secrets: Secrets): Content {
  const answer = tap?.read();
  return {
    request: body === undefined ? null : redact(body, secrets),
    answer: answer === undefined ? null : redactAnswer(answer, secrets),
  };
}

function redactAnswer(answer: AnswerContent, secrets: Secrets): AnswerContent {
  const text = redactText(answer.text, secrets);
  const reasoning = redactText(answer.reasoning, secrets);
  const calls = answer.tool_calls.map((call) => ({ ...call, arguments: redactText(call.arguments, secrets).text }));
  return {
    text: text.text,
    reasoning: reasoning.text,
    tool_calls: calls,
    truncated: answer.truncated || text.truncated || reasoning.truncated,
  };
}
