import type { ResponseInputItem } from 'openai/resources/responses/responses';

/** What a model writes of it. */
export const SUMMARY = 'The user wants tide.ts mended. It was read; line 7 is wrong. Next: mend line 7.';

/** A piece of work with a tool, in the middle of which it is compacted. */
export const WORK = [
  { role: 'developer', content: 'Answer like a sailor.' },
  { role: 'user', content: [{ type: 'input_text', text: 'Mend tide.ts, please.' }] },
  { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'I need to see it.' }] },
  { role: 'assistant', content: 'I shall read it first.' },
  { type: 'function_call', call_id: 'call_1', name: 'read', arguments: '{"path":"tide.ts"}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'const ebb = flood;' },
  { role: 'user', content: 'Hurry.' },
] as ResponseInputItem[];
