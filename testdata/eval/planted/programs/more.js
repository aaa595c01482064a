// A program for node --cpu-prof and --heap-prof. Usage: node more.js MODE
'use strict';
const crypto = require('crypto'), fs = require('fs');
const mode = process.argv[2];
function listItems(n) { const all = []; for (let i = 0; i < n; i++) all.push({ id: i, label: 'item ' + i, price: i * 1.5 }); return all; }
function toText(n) { return JSON.stringify(listItems(n)); }
function checksum(n) { let h = ''; for (let i = 0; i < n; i++) h = crypto.createHash('md5').update(h + i).digest('hex'); return h; }
function orderItems() { return listItems(400).map((r) => (r.id * 7919) % 389).sort((a, b) => a - b); }
function template() { let s = ''; for (let i = 0; i < 900; i++) s += `<td>${i * 2}</td>`; return s.length; }
function countWords() { const m = new Map(); for (let i = 0; i < 1800; i++) { const k = 'w' + i % 97; m.set(k, (m.get(k) || 0) + 1); } return m.size; }
function isEmail(s) { return /^([a-z0-9]+\.?)+@[a-z]+\.com$/.test(s); }
function persist(n) { const f = fs.openSync('more.tmp', 'w'); fs.writeSync(f, 'state ' + n); fs.fsyncSync(f); fs.closeSync(f); }
function tryParse(s) { try { return JSON.parse(s); } catch (e) { return { error: e.stack.length, from: new Error('cannot parse ' + s).stack }; } }
let subscribers = 0;
function refresh() { let x = 1; for (let i = 0; i < 60000; i++) x = (x * 31 + i) % 65521; return x; }
const seen = new Map();
function remember(n) { for (let i = 0; i < 300; i++) seen.set(n + ':' + i, { at: n, body: 'body of message ' + n + ' ' + i, tags: [n, i] }); }
let turns = 0;
function request() {
	turns++;
	if (mode === 'regex') isEmail('averylongaddress' + 'x'.repeat(3) + '!');
	if (mode === 'fsync') for (let i = 0; i < 3; i++) persist(turns);
	if (mode === 'throw') for (let i = 0; i < 300; i++) tryParse('{broken' + i);
	if (mode === 'timers' && turns % 4 === 0 && subscribers < 400) { subscribers++; setInterval(refresh, 20); }
	if (mode === 'remember') { remember(turns); toText(100); }
	checksum(12); toText(60); orderItems(); template(); countWords();
}
const end = Date.now() + 2200;
(function turn() { request(); if (Date.now() < end) setTimeout(turn, 1); else process.exit(); })();
