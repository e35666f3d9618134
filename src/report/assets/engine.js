// Engine: what the charts' library expects of its surroundings, where there is no browser. Runs before the library.

// Nothing moves in a file: what would be drawn later is never asked for.
globalThis.setTimeout = () => 0;
globalThis.clearTimeout = () => {};
// Numbers of a run of the library; the same each time, so that a run's files are.
Math.random = () => 0;
