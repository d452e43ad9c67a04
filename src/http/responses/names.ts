/** Fields as providers call them → as clients of this format wrote them. */
export const FIELD_NAMES: Readonly<Record<string, string>> = {
  messages: 'input',
  max_tokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
  reasoning_effort: 'reasoning.effort',
  response_format: 'text.format',
  'response_format.strict': 'text.format.strict',
  signature: 'reasoning.encrypted_content',
  verbosity: 'text.verbosity',
};
