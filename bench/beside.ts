/** The other gateways beside Sluice: how each is found or installed, and started in front of the mock. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { unusedPort } from '../test/support/plain-server.ts';
import { type Running, start } from './gateway.ts';

/** Another gateway, or why it cannot be measured here. */
export type Found =
  | { readonly start: (upstreamPort: number) => Promise<Running>; readonly headers: (upstreamPort: number) => string[] }
  | { readonly missing: string };

/** Portkey's streams fail with later releases of the two that its ranges allow. */
const PORTKEY = { '@portkey-ai/gateway': '1.15.2', hono: '4.9.7', '@hono/node-server': '1.13.5' };
const INSTALL_LIMIT_MS = 180_000;

/** Debian's nginx, or any other on the path. */
export function findNginx(): Found {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'];
  const program = folders.map((folder) => path.join(folder, 'nginx')).find((file) => existsSync(file));
  if (program === undefined) return { missing: 'nginx is not installed (Debian: apt-get install nginx-light)' };
  return { headers: () => [], start: (upstreamPort) => startNginx(program, upstreamPort) };
}

async function startNginx(program: string, upstreamPort: number): Promise<Running> {
  const port = await unusedPort();
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-bench-nginx-'));
  const config = path.join(folder, 'nginx.conf');
  writeFileSync(config, nginxConfiguration(folder, port, upstreamPort));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const words = ['-p', folder, '-e', path.join(folder, 'error.log'), '-c', config];
    const running = await start(words, port, '/v1/models', program);
    return { ...running, stop: () => running.stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

/** One process, so that its CPU and memory are those of one process id; and everything it writes in its own folder. */
export function nginxConfiguration(folder: string, port: number, upstreamPort: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
worker_rlimit_nofile 16384;
events { worker_connections 8192; }
http {
  access_log off;
${temporary.map((name) => `  ${name}_temp_path ${folder}/${name};`).join('\n')}
  client_max_body_size 16m;
  client_body_buffer_size 1m;
  keepalive_requests 100000000;
  upstream mock {
    server 127.0.0.1:${upstreamPort};
    keepalive 256;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
}

/** Portkey's gateway, installed into a folder of its own in the user's cache if it is not there yet. */
export function findPortkey(): Found {
  const cache = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
  const folder = path.join(cache, 'sluice', 'bench', `portkey-${PORTKEY['@portkey-ai/gateway']}`);
  const program = path.join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  if (!existsSync(program)) {
    const failed = install(folder);
    if (failed !== undefined) return { missing: `Portkey could not be installed: ${failed}` };
  }
  return {
    headers: (upstreamPort) => [
      'x-portkey-provider: openai',
      `x-portkey-custom-host: http://127.0.0.1:${upstreamPort}/v1`,
    ],
    start: async () => {
      const port = await unusedPort();
      return start([program, '--headless', `--port=${port}`], port, '/');
    },
  };
}

/** Installs beside the place and moves it there, so that nothing half installed is found later. Returns what went wrong. */
function install(folder: string): string | undefined {
  const temporary = `${folder}.${process.pid}`;
  mkdirSync(temporary, { recursive: true });
  try {
    // Overrides, so that packages below it get the pinned ones too.
    const { '@portkey-ai/gateway': _, ...pinned } = PORTKEY;
    const manifest = { name: 'bench-beside', private: true, dependencies: PORTKEY, overrides: pinned };
    writeFileSync(path.join(temporary, 'package.json'), JSON.stringify(manifest));
    const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const npm = spawnSync('npm', words, { cwd: temporary, encoding: 'utf8', timeout: INSTALL_LIMIT_MS });
    if (npm.status !== 0) return npm.error?.message ?? npm.stderr.trim().split('\n', 1)[0] ?? 'npm failed';
    rmSync(folder, { recursive: true, force: true });
    renameSync(temporary, folder);
    return undefined;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}
