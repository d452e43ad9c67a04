/** OpenAI's models from before `none` and `xhigh` (https://platform.openai.com/docs/guides/reasoning), whoever serves them. */
const FEW_EFFORTS = /(?:^|\/)(?:o[1-9]|gpt-oss|gpt-5(?!\.\d))/i;
/** Those of them that know `minimal`. */
const MINIMAL = /(?:^|\/)gpt-5(?:-mini|-nano)?(?:$|-\d)/i;

/** An effort in a word that a model knows, for clients that did not write that word themselves. */
export function nearestEffort(effort: string, model: string): string {
  if (!FEW_EFFORTS.test(model)) return effort;
  if (effort === 'xhigh') return 'high';
  if (effort !== 'none') return effort;
  return MINIMAL.test(model) ? 'minimal' : 'low';
}
