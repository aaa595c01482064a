// A program for node --cpu-prof and --trace-event-categories. Usage: node modes.js MODE
'use strict';
const crypto = require('crypto'), fs = require('fs'), zlib = require('zlib');
const mode = process.argv[2];
function rows(n) { const all = []; for (let i = 0; i < n; i++) all.push({ id: i, name: 'item ' + i, tags: ['a', 'b'] }); return all; }
function encodeRows(n) { return JSON.stringify(rows(n)); }
function hashText(n) { let h = ''; for (let i = 0; i < n; i++) h = crypto.createHash('sha256').update(h + i).digest('hex'); return h; }
function compress() { return zlib.deflateRawSync(Buffer.from(encodeRows(60))); }
function sortRows() { return rows(300).map((r) => (r.id * 7919) % 311).sort((a, b) => a - b); }
function matchWords() { let n = 0; for (const r of rows(200)) if (/^item [0-9]*7$/.test(r.name)) n++; return n; }
function deepClone(o) { return JSON.parse(JSON.stringify(o)); }
function editDistance(a, b) { const d = []; for (let i = 0; i <= a.length; i++) { d[i] = [i]; for (let j = 1; j <= b.length; j++) d[i][j] = i ? Math.min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)) : j; } return d[a.length][b.length]; }
function suggest() { let best = 99; for (let i = 0; i < 60; i++) best = Math.min(best, editDistance('suggestion number ' + i, 'sugestion nmber 17')); return best; }
const state = rows(3000), kept = [];
function render() { let s = ''; for (let i = 0; i < 200; i++) s += `<li>${i}</li>`; return s.length; }
function readConfig() { return fs.readFileSync(__filename, 'utf8').length; }
function leakRows() { const big = []; for (let i = 0; i < 4000; i++) big.push({ i, s: 'x' + i, o: { a: [i] } }); kept.push(big); if (kept.length > 90) kept.shift(); }
function slice() {
	if (mode === 'clone') for (let i = 0; i < 3; i++) deepClone(state);
	if (mode === 'suggest') suggest();
	if (mode === 'config') for (let i = 0; i < 500; i++) readConfig();
	if (mode === 'gc') for (let i = 0; i < 5; i++) leakRows();
	if (mode === 'nothing') { encodeRows(300); for (let i = 0; i < 4; i++) compress(); sortRows(); matchWords(); for (let i = 0; i < 5; i++) render(); }
	hashText(30); encodeRows(20); compress(); sortRows(); render();
}
const end = Date.now() + 2500;
(function turn() { slice(); if (Date.now() < end) setImmediate(turn); })();
