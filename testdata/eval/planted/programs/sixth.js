// A program for node --cpu-prof, --heap-prof and --trace-event-categories. Usage: node sixth.js MODE
'use strict';
const fs = require('fs'), path = require('path'), os = require('os'), { EventEmitter } = require('events');
const mode = process.argv[2];
let sum = 0;
function buildRows(n) { const a = []; for (let i = 0; i < n; i++) a.push({ id: i, name: 'row ' + i, score: (i * 7919) % 1009 }); return a; }
function groupRows(rows) { const m = new Map(); for (const r of rows) { const k = r.score % 37; if (!m.has(k)) m.set(k, []); m.get(k).push(r); } return m; }
function toHtml(rows) { let s = ''; for (const r of rows) s += '<tr><td>' + r.name + '</td><td>' + r.score + '</td></tr>'; return s.length; }
function hashRows(rows) { let h = 7; for (const r of rows) for (let i = 0; i < r.name.length; i++) h = (h * 33 + r.name.charCodeAt(i)) | 0; return h; }
const configText = JSON.stringify(Object.fromEntries(buildRows(120).map(r => ['key' + r.id, r])));
function setting(name) { return JSON.parse(configText)[name]; }
function onChunk(all, chunk) { return Buffer.concat([all, chunk]); }
function receiveUpload() { let all = Buffer.alloc(0); const chunk = Buffer.alloc(1024, 65); for (let i = 0; i < 260; i++) all = onChunk(all, chunk); return all.length; }
const board = [];
function addScore(s) { board.push(s); board.sort((a, b) => a - b); if (board.length > 700) board.length = 300; }
let queued = 0, checks = 0;
function checkQueue() { checks++; if (queued > 0) { queued--; sum += hashRows(buildRows(200)); } setImmediate(checkQueue); }
const hub = new EventEmitter(); hub.setMaxListeners(0);
function addListenerFor(user) { const body = buildRows(400); hub.on('change', () => sum += body.length + user); }
function formatDates(n) { let s = 0; for (let i = 0; i < n; i++) s += new Intl.DateTimeFormat('en', { dateStyle: 'long' }).format(i * 86400000).length; return s; }
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'six'));
for (let i = 0; i < 20; i++) fs.writeFileSync(path.join(dir, 't' + i), 'template '.repeat(60));
function loadTemplates() { let n = 0; for (let i = 0; i < 20; i++) { const f = path.join(dir, 't' + i); if (fs.existsSync(f)) n += fs.readFileSync(f).length; } return n; }
const shared = new Array(4000).fill(0).map((_, i) => 'user' + i);
function isKnown(u) { return shared.includes(u); }
let turns = 0;
function request() {
	turns++;
	const rows = buildRows(300);
	groupRows(rows); sum += toHtml(rows) + hashRows(rows);
	if (mode === 'settings') for (let i = 0; i < 6; i++) sum += setting('key' + (turns + i) % 120).id;
	if (mode === 'upload') sum += receiveUpload();
	if (mode === 'board') for (let i = 0; i < 4; i++) addScore((turns * 7919 + i * 31) % 100003);
	if (mode === 'listen') addListenerFor(turns);
	if (mode === 'dates') sum += formatDates(4);
	if (mode === 'files' && turns % 2) sum += loadTemplates();
	if (mode === 'known') for (let i = 0; i < 60; i++) sum += isKnown('user' + (turns * 31 + i * 67) % 5000) ? 1 : 0;
	if (mode === 'poll' && turns % 10 === 0) queued++;
}
if (mode === 'poll') checkQueue();
const end = Date.now() + (mode === 'files' || mode === 'nothing5' ? 500 : 2200);
(function turn() { request(); if (Date.now() < end) setTimeout(turn, mode === 'poll' ? 4 : 1); else { fs.rmSync(dir, { recursive: true }); process.exit(); } })();
