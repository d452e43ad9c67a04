/** The fields that adapters call by OpenAI's names → what clients of Ollama's API call them. */
export const FIELD_NAMES: Readonly<Record<string, string>> = {
  temperature: 'options.temperature',
  top_p: 'options.top_p',
  top_k: 'options.top_k',
  max_tokens: 'options.num_predict',
  max_completion_tokens: 'options.num_predict',
  stop: 'options.stop',
  seed: 'options.seed',
  presence_penalty: 'options.presence_penalty',
  frequency_penalty: 'options.frequency_penalty',
  reasoning_effort: 'think',
  response_format: 'format',
  'tools.description': 'tools.function.description',
  signature: 'messages.thinking_blocks.signature',
};
