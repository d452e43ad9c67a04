// What the built server has instead of accessors of the global object (build.js). Not by an import of Node's modules, which
// would read all of their exports, and load what nobody needs.
export const { Buffer, performance, process } = globalThis;
