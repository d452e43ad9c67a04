/** Whole names, since `max_tokens` and `author` are none. */
const NAMES = new RegExp(
  `^(?:${[
    '(?:x[-_]?)?(?:goog[-_])?api[-_]?keys?',
    'key',
    'access[-_]?(?:key|token)',
    '(?:proxy[-_])?authorization',
    'auth',
    'bearer',
    '(?:set[-_])?cookies?',
    'password',
    'passwd',
    '(?:client[-_]?)?secret',
    'secret[-_]?(?:access[-_]?)?key',
    '(?:id|refresh|session|auth)?[-_]?token',
  ].join('|')})$`,
  'i',
);

/** Words in the name of a header or a setting of a vendor, whose names nobody knows all. */
const WORDS = /auth|cookie|credential|key|pass|secret|session|signature|token/i;

/** Whether what has this name is a secret: a member of a body, a field of a log line, a key of the configuration. */
export function isSecretName(name: string): boolean {
  return NAMES.test(name);
}

/** Whether a header or a setting with this name may hold one: rather one too many. */
export function mayBeSecret(name: string): boolean {
  return WORDS.test(name);
}
