/** Freezes a value with everything in it, maps included. Returns the same value. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map) return freezeMap(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}

function freezeMap<M extends Map<unknown, unknown>>(map: M): M {
  for (const member of map.values()) deepFreeze(member);
  // Object.freeze alone leaves a map's entries changeable.
  const refuse = (): never => {
    throw new TypeError('the configuration cannot be changed');
  };
  for (const method of ['set', 'delete', 'clear'] as const) Object.defineProperty(map, method, { value: refuse });
  return Object.freeze(map);
}
