import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ready } from './visit.ts';

const script: VendorScript = ({ prompt }) => ({ text: ['You said: ', prompt] });

describe('files for a question', { skip: withoutBrowser }, () => {
  const { visit } = setStage(() => openGateway(script, ['gpt-4o']));

  test('show a sign in place of the picture where the server cannot take them', async () => {
    await visit(async (page) => {
      await ready(page);
      const broken = { name: 'broken.png', mimeType: 'image/png', buffer: Buffer.from('This is no picture.') };
      await page.locator('#files').setInputFiles(broken);
      await page.locator('#attached .is-failed > .icon').waitFor();
      assert.equal(await page.locator('#attached img').count(), 0);
    });
  });

  test('show a sign in place of a picture that the browser cannot show, while they are on their way', async () => {
    await visit(async (page) => {
      await ready(page);
      const held = Promise.withResolvers<void>();
      await page.route('**/backend-api/v2/files/*', async (route) => {
        await held.promise;
        await route.continue().catch(() => {});
      });
      const broken = { name: 'photo.heic', mimeType: 'image/heic', buffer: Buffer.from('none that it knows') };
      await page.locator('#files').setInputFiles(broken);
      await page.locator('#attached .is-uploading > .icon').waitFor();
      assert.equal(await page.locator('#attached img').count(), 0);
      held.resolve();
    });
  });
});
