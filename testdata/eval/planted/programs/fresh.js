// Usage: node --cpu-prof fresh.js MODE
const mode = process.argv[2]
function readTags(n) { const a = []; for (let i = 0; i < n; i++) a.push('tag' + ((i * 7919) % 3000)); return a }
function uniqueTags(tags) { const out = []; for (const t of tags) { if (out.indexOf(t) < 0) out.push(t) } return out }
function goodTags(tags) { return [...new Set(tags)] }
function rank(tags) { const m = new Map(); for (const t of tags) m.set(t, (m.get(t) || 0) + t.length); return [...m].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)) }
function format(r) { let s = ''; for (const [k, v] of r) s += k.toUpperCase() + ':' + v + '\n'; return s.length }
function compileTemplate(text) { const parts = text.split(/(\{\w+\})/).map(p => p.startsWith('{') ? 'o.' + p.slice(1, -1) : JSON.stringify(p)); return new Function('o', 'return ' + parts.join('+')) }
const template = Array.from({ length: 120 }, (_, i) => '<p class="c' + i + '">{a} and {b}</p>').join('')
const compiled = compileTemplate(template)
function lookup(i) { let h = 0; for (let k = 0; k < 60000; k++) h = (h * 33 + i + k) | 0; return h }
function page(i) { const f = mode === 'template' ? compileTemplate(template) : compiled; return f({ a: lookup(i), b: i }).length }
let n = 0
const end = Date.now() + 3000
for (let i = 0; Date.now() < end; i++) {
	if (mode === 'template') { n += page(i); n += format(rank(readTags(300))) }
	else { const t = readTags(4000); n += format(rank(mode === 'unique' ? uniqueTags(t) : goodTags(t))); n += page(i); n += lookup(i) }
}
console.error(n)
