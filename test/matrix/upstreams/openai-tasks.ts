import type { ServerResponse } from 'node:http';
import type { SeenRequest } from '../../support/openai-upstream.ts';
import type { VendorScript } from '../../support/vendor-script.ts';

export const TASK_MODELS = [] as const;
export async function answerTasks(
  _script: VendorScript,
  _request: SeenRequest,
  _response: ServerResponse,
): Promise<boolean> {
  return false;
}
