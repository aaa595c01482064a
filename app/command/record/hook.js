// Lets node write its profile when a signal ends it.
'use strict';
const fs = require('fs');
const path = require('path');
const { isMainThread } = require('worker_threads');
if (isMainThread) {
  const codes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };
  const names = { SIGINT: 'interrupt', SIGTERM: 'terminated', SIGHUP: 'hangup' };
  for (const [signal, code] of Object.entries(codes)) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(code);
    });
  }
  process.on('newListener', (name) => {
    if (!names[name]) return;
    try { fs.writeFileSync(path.join(__dirname, 'handled-' + names[name]), ''); } catch { /* the folder is gone */ }
  });
}
