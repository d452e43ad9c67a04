/** How a key of a provider gets into the environment, in the words of the shell that comes with the system. */
export function keyHint(platform: NodeJS.Platform = process.platform): string {
  const set = platform === 'win32' ? "$env:OPENAI_API_KEY = '…'" : 'export OPENAI_API_KEY=…';
  return `${set} (or ANTHROPIC_API_KEY, GEMINI_API_KEY, GROQ_API_KEY, …)`;
}
