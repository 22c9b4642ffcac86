"use strict";
/** A failure whose message says what happened and what to do next. */
class InstallError extends Error {}
module.exports = { InstallError };
