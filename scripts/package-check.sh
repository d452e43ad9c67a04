#!/usr/bin/env bash
# Packs Sluice as it would be published, installs that package into an empty folder, and runs its command.
set -euo pipefail
cd "$(dirname "$0")/.."

if curl -s http://127.0.0.1:13370/ >/dev/null; then echo 'something listens on port 13370 already'; exit 1; fi
folder=$(mktemp -d)
pid=
cleanup() {
  if [ -n "$pid" ]; then
    kill -TERM "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  fi
  rm -rf "$folder"
}
trap cleanup EXIT

npm pack --silent --pack-destination "$folder" >/dev/null
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ./sluice-*.tgz
sluice=node_modules/.bin/sluice
"$sluice" --version
"$sluice" doctor --data-dir "$folder/data" >/dev/null
# Not by npx, which keeps signals to itself.
"$sluice" --bind 127.0.0.1:13370 --data-dir "$folder/data" >"$folder/log" 2>&1 &
pid=$!
# Until it listens, on a machine that is busy or has compiled nothing yet: a minute.
for _ in $(seq 1 600); do
  curl -sf http://127.0.0.1:13370/v1/models >/dev/null && break
  kill -0 "$pid" 2>/dev/null || { cat "$folder/log"; exit 1; }
  sleep 0.1
done
# Not through a pipe: grep would close it at the first match, and curl fail for that.
models=$(curl -sf http://127.0.0.1:13370/v1/models)
grep -q '"object":"list"' <<<"$models" || { cat "$folder/log"; exit 1; }
page=$(curl -sf http://127.0.0.1:13370/)
grep -q '<title>' <<<"$page" || { echo 'no page'; cat "$folder/log"; exit 1; }
echo 'The packed command serves.'
