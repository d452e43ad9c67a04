/** The fields that adapters call by OpenAI's names → what clients of the Gemini API call them. */
export const FIELD_NAMES: Readonly<Record<string, string>> = {
  temperature: 'generationConfig.temperature',
  top_p: 'generationConfig.topP',
  top_k: 'generationConfig.topK',
  max_tokens: 'generationConfig.maxOutputTokens',
  stop: 'generationConfig.stopSequences',
  seed: 'generationConfig.seed',
  presence_penalty: 'generationConfig.presencePenalty',
  frequency_penalty: 'generationConfig.frequencyPenalty',
  reasoning_effort: 'generationConfig.thinkingConfig',
  response_format: 'generationConfig.responseMimeType',
  'tools.description': 'tools.functionDeclarations.description',
  'tools.strict': 'toolConfig.functionCallingConfig.mode',
  tool_choice: 'toolConfig.functionCallingConfig',
  web_search: 'tools.googleSearch',
  signature: 'contents.parts.thoughtSignature',
  is_error: 'contents.parts.functionResponse.response.error',
};
