/** OpenAI's models that think (https://platform.openai.com/docs/guides/reasoning), whoever serves them. */
const THINKERS = /(?:^|\/)(?:o[1-9]|gpt-oss|gpt-[5-9])/i;
/** Those from before `none` and `xhigh`. */
const FEW_EFFORTS = /(?:^|\/)(?:o[1-9]|gpt-oss|gpt-5(?!\.\d))/i;
/** The only ones that know `minimal`. */
const MINIMAL = /(?:^|\/)gpt-5(?:-mini|-nano)?(?:$|-\d)/i;

/** An effort in a word that a model knows: it refuses the others. */
export function nearestEffort(effort: string, model: string): string {
  if (effort === 'minimal') return THINKERS.test(model) && !MINIMAL.test(model) ? 'low' : effort;
  if (!FEW_EFFORTS.test(model)) return effort;
  if (effort === 'xhigh') return 'high';
  if (effort !== 'none') return effort;
  return MINIMAL.test(model) ? 'minimal' : 'low';
}
