// Keeps the shell of the page, and nothing else: no answer of the API ever comes from here.
const name = 'VERSION';
const files = ['FILES'];
const prefix = 'sluice-shell-';
// What answers vary by (compression, origin) has been dealt with by the time they are kept.
const ANYHOW = { ignoreVary: true };

addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(prefix + name)
      .then((cache) => cache.addAll(files))
      .then(() => self.skipWaiting()),
  );
});

addEventListener('activate', (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter(isOld).map((old) => caches.delete(old))))
      .then(() => self.clients.claim()),
  );
});

function isOld(each) {
  return each.startsWith(prefix) && each !== prefix + name;
}

addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== location.origin || url.search !== '') return;
  if (url.pathname.startsWith('/assets/')) {
    // Their names change with their content. Parts of the page that were opened once open without the server, too.
    event.respondWith(caches.match(request, ANYHOW).then((kept) => kept ?? fetchAndKeep(event)));
  } else if (files.includes(url.pathname) && (url.pathname !== '/' || request.mode === 'navigate')) {
    // A new page as soon as there is one; the kept one only when the server is out of reach. The same for its logo.
    event.respondWith(fetch(request).catch(() => caches.match(url.pathname, ANYHOW)));
  }
});

async function fetchAndKeep(event) {
  const { request } = event;
  const response = await fetch(request);
  if (response.ok) {
    const copy = response.clone();
    // The answer does not wait for it, but the worker lives until it is kept.
    event.waitUntil(
      caches
        .open(prefix + name)
        .then((cache) => cache.put(request, copy))
        .catch(() => {}),
    );
  }
  return response;
}
