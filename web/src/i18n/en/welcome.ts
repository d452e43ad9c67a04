/** The page for a new chat. */
export const welcome = {
  title: 'What would you like to know?',
  noModels:
    'No model can be reached yet. Enter a provider’s key in the settings, or start a local server such as Ollama.',
  providers: 'Providers and models',
  models: { one: '{count} model', other: '{count} models' },
  noneListed: 'No models: see why',
  demo: 'The built-in model runs on this computer without any key. It is a small demo: it makes mistakes and knows little.',
  addModels: 'Enter a provider’s key in the settings, or start Sluice with one, and its models appear here:',
  code: 'Use it from your code',
  codeHint: 'Give any OpenAI client this base URL:',
  copyAddress: 'Copy the address',
  copyCommand: 'Copy the command',
};
