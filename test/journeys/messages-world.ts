import type Anthropic from '@anthropic-ai/sdk';
import type { World } from './sdk-vendors.ts';

export type Json = Record<string, unknown>;
export type Params = Anthropic.MessageCreateParamsNonStreaming;

export const HELLO: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello' }];
export const MARK = { type: 'ephemeral' } as const;
/** As Claude Code names its sessions. */
export const USER_ID = 'user_0a1b_account_2c3d_session_4e5f';
export const named = (name: string) => ({ name, input_schema: { type: 'object', properties: {} } });
export const TOOL: Anthropic.Tool = {
  name: 'Bash',
  description: 'Runs a command',
  input_schema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  cache_control: MARK,
};

/** Asks without the client's library, whose types leave out what is asked here, and headers of the answer. */
export const postTo = (
  { origin }: World,
  body: object,
  headers: Record<string, string> = {},
  path = '/v1/messages',
): Promise<Response> =>
  fetch(origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', ...headers },
    body: JSON.stringify(body),
  });
