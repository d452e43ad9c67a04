/** A failure with what is needed to say what to do about it. */
export class GatewayError extends Error {
  constructor(message, details = {}) {
    super(message);
    Object.assign(this, details);
  }
}

async function call(path, options) {
  const response = await fetch(path, options).catch((error) => {
    if (error.name === 'AbortError') throw error;
    throw new GatewayError('Sluice does not answer.', { code: 'unreachable' });
  });
  if (response.ok) return response;
  const { error = {} } = await response.json().catch(() => ({}));
  const message = error.message ?? `Sluice answered with status ${response.status}.`;
  throw new GatewayError(message, { status: response.status, code: error.code });
}

/** The providers that are on, and the models of each by the provider's name. */
export async function loadCatalog() {
  const [providers, models] = await Promise.all(
    ['providers', 'models'].map(async (name) => (await call(`/backend-api/v2/${name}`)).json()),
  );
  return { providers, models };
}

/** Asks for an answer and hands over each of its chunks as it comes. Throws GatewayError, or AbortError when stopped. */
export async function converse(body, onChunk, signal) {
  const headers = { 'content-type': 'application/json' };
  const options = { method: 'POST', headers, body: JSON.stringify(body), signal };
  const response = await call('/backend-api/v2/conversation', options);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      if (error.name === 'AbortError') throw error;
      throw new GatewayError('The connection to Sluice broke off.', { code: 'unreachable' });
    });
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line.startsWith('data: ')) onChunk(JSON.parse(line.slice(6)));
  }
}
