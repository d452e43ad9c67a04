import type { Answer } from './connection.ts';
import { planOf, textOf } from './models.ts';

/** In which dialect a lane of the benchmark asks. */
export type Dialect = 'v1' | 'typed';

/** A request as bytes, and how its answer is judged. */
export interface Question {
  readonly bytes: Buffer;
  /** What is wrong with the answer; undefined when it is exact. */
  judge(answer: Answer): string | undefined;
}

const PATHS: Record<Dialect, string> = { v1: '/v1/chat/completions', typed: '/backend-api/v2/conversation' };

/**
 * A chat that asks for `model` with a prompt of about `promptBytes`, spread over `turns` messages. `headers` are whole lines
 * without their ends.
 */
export function question(
  dialect: Dialect,
  port: number,
  model: string,
  promptBytes: number,
  headers: readonly string[] = [],
  turns = 1,
): Question {
  const plan = planOf(model);
  if (plan === undefined) throw new Error(`no such model: ${model}`);
  const messages = Array.from({ length: turns }, () => ({ role: 'user', content: textOf(promptBytes / turns) }));
  const body = JSON.stringify({ model, messages, ...(plan.kind === 'json' ? {} : { stream: true }) });
  const lines = [
    `POST ${PATHS[dialect]} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    'authorization: Bearer sk-bench',
    ...headers,
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  const bytes = Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
  if (plan.kind !== 'json') return { bytes, judge: (answer) => judgeStream(dialect, plan.chunks, answer) };
  const content = textOf(plan.bytes);
  return { bytes, judge: (answer) => judgeWhole(content, answer) };
}

function judgeStatus(answer: Answer): string | undefined {
  return answer.status === 200 ? undefined : `status ${answer.status}: ${answer.body.slice(0, 300)}`;
}

function judgeWhole(content: string, answer: Answer): string | undefined {
  const wrong = judgeStatus(answer);
  if (wrong !== undefined) return wrong;
  const choice = JSON.parse(answer.body).choices?.[0];
  if (choice?.message?.content !== content) return `another text than the upstream's: ${answer.body.slice(0, 300)}`;
  if (choice.finish_reason !== 'stop') return `finish_reason is ${choice.finish_reason}`;
  return undefined;
}

function judgeStream(dialect: Dialect, chunks: number, answer: Answer): string | undefined {
  const wrong = judgeStatus(answer);
  if (wrong !== undefined) return wrong;
  let expected = 0;
  for (const [, index] of answer.body.matchAll(/"content":" w(\d+)"/g)) {
    if (Number(index) !== expected) return `chunk ${index} came where chunk ${expected} was due`;
    expected += 1;
  }
  if (expected !== chunks) return `${expected} of ${chunks} chunks came`;
  if (dialect === 'v1' && !answer.body.endsWith('data: [DONE]\n\n')) return 'the stream ends without [DONE]';
  if (dialect === 'typed' && !/\ndata: .*"type":"finish".*\n\n$/.test(answer.body))
    return 'the stream ends without finish';
  return undefined;
}
