import type { Handler } from '../deps.ts';

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Sluice: the compatible interface</title>
<h1>The compatible interface</h1>
<p>This address is the base URL for clients of the OpenAI API.
<ul>
<li><a href="/v1/models">Models</a>
<li><a href="/v1/providers">Providers</a>
<li><a href="/docs/">The API’s documents</a>
<li><a href="/">The chat</a>
</ul>
</html>
`;

/** `GET /v1`, for whoever opens the base URL in a browser. */
export const indexPage: Handler = async (_request, reply) =>
  reply
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', "default-src 'none'")
    .send(PAGE);
