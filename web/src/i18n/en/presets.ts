export const presets = {};
