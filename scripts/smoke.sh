#!/usr/bin/env bash
# Starts Sluice with `npm start` and no setting at all, and asks it on both dialects: the embedded model must answer.
set -euo pipefail
cd "$(dirname "$0")/.."

base=http://127.0.0.1:1337
if curl -s "$base" >/dev/null; then echo 'something listens on port 1337 already'; exit 1; fi
home=$(mktemp -d)
log="$home/start.log"
# In a process group of its own, as a terminal would have it: npm hands signals to its shell only.
setsid env -i PATH="$PATH" HOME="$home" npm start >"$log" 2>&1 &
pid=$!
cleanup() {
  kill -TERM -- "-$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  for _ in $(seq 1 50); do curl -s "$base" >/dev/null || break; sleep 0.1; done
# The code cache may still be written while the process ends.
  for _ in $(seq 1 50); do
    rm -rf "$home" 2>/dev/null && return
    sleep 0.1
  done
  echo "left behind: $home"
}
trap cleanup EXIT

# Until it listens, on a machine that is busy or has compiled nothing yet: a minute.
for _ in $(seq 1 600); do
  curl -sf "$base/backend-api/v2/version?cache=true" >/dev/null && break
  kill -0 "$pid" 2>/dev/null || { cat "$log"; exit 1; }
  sleep 0.1
done
question='{"messages":[{"role":"user","content":"What is the capital of France?"}],"temperature":0,"max_tokens":24,"stream":true}'
answer=$(curl -sfN --max-time 240 "$base/v1/chat/completions" -H 'content-type: application/json' -d "$question")
grep -q '"content":".*Paris' <<<"$answer" || { echo "no sensible answer on /v1: $answer"; exit 1; }
[[ "$answer" == *'data: [DONE]'* ]] || { echo "no [DONE]: $answer"; exit 1; }
answer=$(curl -sfN --max-time 240 "$base/backend-api/v2/conversation" -H 'content-type: application/json' -d "$question")
grep -q '"content":".*Paris' <<<"$answer" || { echo "no sensible answer on conversation: $answer"; exit 1; }
grep -q '^event: finish$' <<<"$answer" || { echo "no finish: $answer"; exit 1; }
# Not through a pipe: grep would close it at the first match, and curl fail for that.
page=$(curl -sf "$base/")
grep -q '<title>' <<<"$page" || { echo 'no page'; exit 1; }
curl -sf -o "$home/hello.wav" "$base/backend-api/v2/synthesize/flite?text=Hello&format=wav"
[ "$(head -c 4 "$home/hello.wav")" = RIFF ] || { echo 'no voice'; exit 1; }
curl -sf "$base/docs/" >/dev/null || { echo 'no documents'; exit 1; }
cat "$log"
grep -q 'is ready' "$log" || { echo 'no word about the start'; exit 1; }
echo 'The embedded model answers on both dialects.'
