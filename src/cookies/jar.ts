import { createHash } from 'node:crypto';
import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import path from 'node:path';
import { SluiceError } from '../core/errors.ts';
import { makeFolder, syncFolder } from '../core/folder.ts';
import { Locks } from '../core/locks.ts';
import type { Logger } from '../core/logger.ts';
import { removeLeftovers, TEMPORARY, temporaryName } from '../stores/disk/temporary.ts';
import type { BrowserCookie } from './parse.ts';

/**
 * Cookies for providers, by domain: one file a domain, readable by its owner only, in a folder from which nothing is
 * served. In memory for requests; a value never leaves towards anybody but its own domain.
 */
export class CookieStore {
  readonly #folder: string;
  readonly #temporary: string;
  readonly #log: Logger;
  readonly #byDomain = new Map<string, readonly BrowserCookie[]>();
  /** By file: what is read or written last counts, here as on the disk. */
  readonly #locks = new Locks();
  readonly #loaded: Promise<void>;

  constructor(dataDir: string, log: Logger) {
    this.#folder = path.join(dataDir, 'cookies');
    this.#temporary = path.join(this.#folder, TEMPORARY);
    this.#log = log;
    this.#loaded = this.#load();
  }

  /** Resolves once what an earlier run stored is known. */
  ready(): Promise<void> {
    return this.#loaded;
  }

  /** Reads again what is stored, after another process has stored something. */
  reload(): Promise<void> {
    return this.#load();
  }

  /** Replaces all cookies of the domains that occur. Returns these domains. */
  async put(cookies: readonly BrowserCookie[]): Promise<readonly string[]> {
    await this.#loaded;
    const byDomain = new Map<string, BrowserCookie[]>();
    for (const cookie of cookies) {
      const same = byDomain.get(cookie.domain);
      if (same === undefined) byDomain.set(cookie.domain, [cookie]);
      else same.push(cookie);
    }
    for (const [domain, own] of byDomain) {
      const name = fileOf(domain);
      await this.#locks.run(name, async () => {
        await this.#write(name, own);
        this.#byDomain.set(domain, own);
      });
    }
    return [...byDomain.keys()];
  }

  /** The `Cookie` header for an address (RFC 6265 §5.4); undefined when no cookie belongs there. */
  header(url: URL): string | undefined {
    const now = Date.now() / 1000;
    const pairs = this.#matching(url.hostname)
      .filter(({ secure, expires, path: own }) => {
        if (expires !== undefined && expires < now) return false;
        if (secure && url.protocol !== 'https:') return false;
        return url.pathname === own || url.pathname.startsWith(own.endsWith('/') ? own : `${own}/`);
      })
      .sort((a, b) => b.path.length - a.path.length)
      .map(({ name, value }) => `${name}=${value}`);
    return pairs.length === 0 ? undefined : pairs.join('; ');
  }

  /** All values, for the mask of secrets. */
  values(): readonly string[] {
    return [...this.#byDomain.values()].flat().map((cookie) => cookie.value);
  }

  #matching(host: string): readonly BrowserCookie[] {
    const found: BrowserCookie[] = [];
    for (const [domain, cookies] of this.#byDomain) {
      if (host === domain) found.push(...cookies);
      else if (host.endsWith(`.${domain}`) && isIP(host) === 0)
        found.push(...cookies.filter(({ hostOnly }) => hostOnly !== true));
    }
    return found;
  }

  async #load(): Promise<void> {
    let names: string[];
    try {
      names = await readdir(this.#folder);
    } catch {
      return; // none yet
    }
    await removeLeftovers(this.#temporary).catch(() => {
      // Nothing is written yet, or the next start removes it: no reason to pass over what is stored.
    });
    for (const name of names.filter((each) => each.endsWith('.json'))) {
      await this.#locks.run(name, () => this.#read(name));
    }
  }

  async #read(name: string): Promise<void> {
    try {
      const cookies = JSON.parse(await readFile(path.join(this.#folder, name), 'utf8')) as BrowserCookie[];
      // By what it holds: of the longest domains the name does not tell.
      const [{ domain }] = cookies as [BrowserCookie];
      this.#byDomain.set(domain, cookies);
    } catch {
      this.#log.warn({ file: name }, 'a file of cookies cannot be read and is left out');
    }
  }

  async #write(name: string, cookies: readonly BrowserCookie[]): Promise<void> {
    const temporary = path.join(this.#temporary, temporaryName());
    try {
      await makeFolder(this.#temporary);
      const file = await open(temporary, 'wx', 0o600);
      try {
        await file.writeFile(JSON.stringify(cookies));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path.join(this.#folder, name));
      await syncFolder(this.#folder);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => {
        // Where there is no folder there is no file in it.
      });
      throw new SluiceError('storage_failed', 'The cookies could not be stored.', { cause: error });
    }
  }
}

/**
 * A plain name, since `parse.ts` checks domains. It has at most 255 bytes, a domain 253 and `.json` behind it. No domain looks like a
 * hash: a label ends at 63.
 */
function fileOf(domain: string): string {
  const name = `${domain}.json`;
  return name.length <= 255 ? name : `${createHash('sha256').update(domain).digest('hex')}.json`;
}
