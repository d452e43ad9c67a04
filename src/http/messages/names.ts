/** Fields as providers call them → as clients of this format wrote them. */
export const FIELD_NAMES: Readonly<Record<string, string>> = {
  max_completion_tokens: 'max_tokens',
  stop: 'stop_sequences',
  response_format: 'output_config.format',
  reasoning_effort: 'thinking',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
};
