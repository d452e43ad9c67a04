import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const executablePath = PLACES.find((place) => existsSync(place));

/** For the `skip` option of tests: false when there is a browser, else what is missing. */
export const withoutBrowser =
  executablePath === undefined && 'no Chromium on this machine; on Debian: apt-get install chromium';

/** Starts the browser that the machine has; nothing is downloaded, and it calls nobody by itself. */
export function launchChromium(): Promise<Browser> {
  if (executablePath === undefined) throw new Error(String(withoutBrowser));
  return chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
