import { BACKEND, request } from './http.ts';

/** Hands a file with a browser's cookies to the server; returns what it says about them. */
export async function uploadCookies(file: File): Promise<string> {
  const form = new FormData();
  form.append('file', file, file.name);
  const response = await request(`${BACKEND}/upload_cookies`, { method: 'POST', body: form });
  return ((await response.json()) as { message: string }).message;
}
