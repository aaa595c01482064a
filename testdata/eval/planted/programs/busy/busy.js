// Healthy programs that write a Chrome trace of their scopes: node busy.js MODE OUT.json. Nothing
// is planted.
const fs = require('fs');
const events = [];
const span = (name, f) => { const at = performance.now(); const r = f(); events.push({ph: 'X', pid: 1, tid: 1, name, ts: Math.round(at * 1e6) / 1e3, dur: Math.round((performance.now() - at) * 1e6) / 1e3}); return r; };
let seed = 5;
const rnd = n => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;

function page(i) { const lines = []; for (let k = 0; k < 60; k++) lines.push(['# title ', '* item ', 'text with **bold** and `code` '][rnd(3)] + i * k); return lines; }
const escape = s => s.replace(/[&<>]/g, c => '&#' + c.charCodeAt(0) + ';');
const inline = s => s.replace(/\*\*(.+?)\*\*/g, '<b>$1</b>').replace(/`(.+?)`/g, '<code>$1</code>');
const block = s => s.startsWith('# ') ? `<h1>${s.slice(2)}</h1>` : s.startsWith('* ') ? `<li>${s.slice(2)}</li>` : `<p>${s}</p>`;
function markdown() {
	for (let i = 0; i < 700; i++) span('render page', () => {
		let lines = span('load', () => page(i));
		lines = span('escape', () => { let r; for (let k = 0; k < 12; k++) r = lines.map(escape); return r; });
		lines = span('inline', () => { let r; for (let k = 0; k < 12; k++) r = lines.map(inline); return r; });
		span('blocks', () => { let r; for (let k = 0; k < 12; k++) r = lines.map(block).join('\n'); return r; });
	});
}

function sheet() {
	const rows = 120, cols = 26, cell = new Float64Array(rows * cols);
	for (let i = 0; i < 900; i++) span('recalculate', () => {
		span('edit', () => { for (let k = 0; k < 900; k++) cell[rnd(cell.length)] = k; });
		span('sums', () => { for (let n = 0; n < 8; n++) for (let c = 0; c < cols; c++) { let s = 0; for (let r = 0; r < rows; r++) s += cell[r * cols + c]; cell[c] = s / rows; } });
		span('lookups', () => { let s = 0; for (let k = 0; k < 6000; k++) s += cell[(k * 7919) % cell.length]; cell[1] = s % 100; });
		span('draw', () => { let t = ''; for (let r = 0; r < rows; r++) t += cell[r * cols].toFixed(2) + '\t'; return t.length; });
	});
}
({markdown, sheet})[process.argv[2]]();
fs.writeFileSync(process.argv[3], JSON.stringify(events));
