// Loops for perf record and callgrind, and programs that write a Chrome trace of their scopes.
// Usage: sixth MODE [OUT.json]. Each mode has one planted cause, or none.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <pthread.h>
#include <sched.h>

#define NOINLINE __attribute__((noinline))
using Clock = std::chrono::steady_clock;
static const auto begin = Clock::now();
static double now() { return std::chrono::duration<double>(Clock::now() - begin).count(); }
static std::string mode;
static bool is(const char *m) { return mode == m; }
static volatile long sink;
static void nap(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); }

// The rest of a program, in comparable parts.
NOINLINE void blend_pixels(int n) { static unsigned char p[4096]; for (int i = 0; i < n; i++) p[i & 4095] = (p[(i * 3) & 4095] * 7 + i) >> 3; sink += p[9]; }
NOINLINE void hash_tiles(int n) { unsigned h = 5; for (int i = 0; i < n; i++) h = (h ^ (h << 5)) + i * 16777619u; sink += h; }
NOINLINE void print_labels(int n) { char b[64]; for (int i = 0; i < n; i++) sink += snprintf(b, sizeof b, "tile %d of %d", i, n); }
NOINLINE void sort_tiles(int n) { static unsigned a[600]; for (int i = 0; i < n; i++) a[i] = i * 2654435761u; for (int i = 1; i < n; i++) for (int k = i; k > 0 && a[k] < a[k - 1]; k--) std::swap(a[k], a[k - 1]); sink += a[5]; }
NOINLINE void rest(int n) { blend_pixels(6000 * n), hash_tiles(8000 * n), print_labels(70 * n), sort_tiles(90); }

static std::vector<std::pair<std::string, int>> keys;
NOINLINE int find_setting(const char *k) { for (auto &e : keys) if (strcmp(e.first.c_str(), k) == 0) return e.second; return -1; }
NOINLINE void apply_settings() { char b[32]; for (int i = 0; i < 12; i++) { snprintf(b, sizeof b, "settings.page.%d", i * 97 % 900); sink += find_setting(b); } }

struct Bad { size_t operator()(int v) const { return v & 7; } };
NOINLINE int lookup_owner(std::unordered_map<int, int, Bad> &m, int k) { auto e = m.find(k); return e == m.end() ? 0 : e->second; }
static std::unordered_map<int, int, Bad> owners;

static float grid[2048][2048];
NOINLINE float sum_columns(int from) { float s = 0; for (int x = from; x < from + 8; x++) for (int y = 0; y < 2048; y++) s += grid[y][x & 2047]; return s; }

static std::atomic<int> ready{0};
NOINLINE void await_frame(int n) { while (ready.load(std::memory_order_acquire) < n) sched_yield(); }

NOINLINE long parse_stamp(const char *s) { int y, m, d, h, i; if (sscanf(s, "%d-%d-%dT%d:%d", &y, &m, &d, &h, &i) != 5) return 0; return ((y * 12L + m) * 31 + d) * 1440 + h * 60 + i; }
NOINLINE bool older(const std::string &a, const std::string &b) { return parse_stamp(a.c_str()) < parse_stamp(b.c_str()); }
NOINLINE void latest_entry(int n) { static std::vector<std::string> all; if (all.empty()) for (int i = 0; i < 40; i++) all.push_back("2024-0" + std::to_string(1 + i % 9) + "-11T10:" + std::to_string(10 + i % 50)); size_t best = 0; for (int k = 0; k < n; k++) for (size_t i = 0; i < all.size(); i++) if (older(all[best], all[i])) best = i; sink += best; }

struct Node { long v; Node *next; char pad[40]; };
NOINLINE Node *make_node(long v, Node *next) { return new Node{v, next, {}}; }
NOINLINE void free_nodes(Node *n) { while (n) { Node *x = n->next; delete n; n = x; } }
NOINLINE void collect(int n) { Node *all = nullptr; for (int i = 0; i < n; i++) all = make_node(i, all); sink += all->v; free_nodes(all); }

static void loops(double seconds) {
	double until = now() + seconds;
	for (int i = 0; i < 900; i++) keys.push_back({"settings.page." + std::to_string(i), i});
	for (int i = 0; i < 1500; i++) owners[i] = i;
	std::thread slow;
	if (is("yield")) slow = std::thread([=] { pthread_setname_np(pthread_self(), "producer"); while (now() < until) { nap(9); ready++; } ready = 1 << 30; });
	for (int f = 1; now() < until; f++) {
		if (is("settings")) apply_settings();
		if (is("buckets")) for (int i = 0; i < 400; i++) sink += lookup_owner(owners, (i * 31 + f) % 1500);
		if (is("columns")) sink += (long)sum_columns(f * 8);
		if (is("yield") && f % 8 == 0) await_frame(f / 8);
		if (is("nodes")) collect(2500);
		rest(is("columns") || is("nodes") ? 2 : 1);
	}
	if (slow.joinable()) slow.join();
}
static void turns(int n) { // for callgrind
	for (int i = 0; i < 900; i++) keys.push_back({"settings.page." + std::to_string(i), i});
	for (int f = 0; f < n; f++) { if (is("stamps")) latest_entry(8); rest(1); }
}

// A player and a renderer that time their scopes.
struct Event { const char *name; std::string args; double at, length; int tid; char phase; };
static std::mutex events_lock;
static std::vector<Event> events;
static thread_local int tid;
static void event(Event e) { std::lock_guard<std::mutex> g(events_lock); events.push_back(std::move(e)); }
struct Scope { const char *name; std::string args; double at; Scope(const char *n, std::string a = "") : name(n), args(std::move(a)), at(now()) {} ~Scope() { event({name, args, at, now() - at, tid, 'X'}); } };
static std::string arg(const char *k, long v) { return std::string("{\"") + k + "\":" + std::to_string(v) + "}"; }
static void thread_is(int n, const std::string &name) { tid = n; event({"thread_name", "{\"name\":\"" + name + "\"}", 0, 0, n, 'M'}); }
static std::mt19937 dice(23);
static double about(double ms) { return ms * (.88 + .24 * (dice() % 1000) / 1000); }
static void spin_ms(double ms) { double t = now() + ms / 1e3; while (now() < t) hash_tiles(500); }

static void player() { // audio is mixed in time, but for the log
	thread_is(1, "Audio");
	for (int i = 0; i < 500; i++) {
		double next = now() + .0021;
		{
			Scope s("Mixer::callback");
			{ Scope s("Mixer::voices", arg("voices", 6 + dice() % 5)); spin_ms(about(.3)); }
			{ Scope s("Mixer::reverb"); spin_ms(about(.25)); }
			if (is("callback") && dice() % 41 == 0) { Scope s("Log::flush"); nap(about(7)); }
			{ Scope s("Mixer::limit"); spin_ms(about(.1)); }
		}
		while (now() < next) nap(.1);
	}
}
static void physics() { // steps of fixed length: the slower a frame, the more steps in the next
	thread_is(1, "Main");
	double owed = 0;
	for (int f = 0; f < 260; f++) {
		double t = now();
		{
			Scope s("Frame", arg("number", f));
			{ Scope s("Input"); spin_ms(about(.08)); }
			int steps = 1;
			if (is("substeps")) { owed += f % 30 == 4 ? 9 : 1; steps = (int)owed; owed -= steps; }
			{ Scope s("Physics"); for (int k = 0; k < steps; k++) { Scope s("Physics::substep"); spin_ms(about(.5)); } }
			{ Scope s("Render"); spin_ms(about(.9)); }
		}
		while (now() < t + .0045) nap(.1);
	}
}
static void tiles() { // four workers render tiles, and one has most of them
	std::mutex l;
	std::condition_variable c;
	int round = 0, left = 0;
	bool end = false;
	std::vector<std::thread> ts;
	for (int n = 0; n < 4; n++) ts.emplace_back([&, n] {
		thread_is(10 + n, "Tile worker " + std::to_string(n));
		for (int seen = 0;;) {
			{ std::unique_lock<std::mutex> g(l); c.wait(g, [&] { return round != seen || end; }); if (end) return; seen = round; }
			int mine = is("tiles") ? (n == 2 ? 9 : 1) : 3;
			for (int k = 0; k < mine; k++) { Scope s("renderTile"); nap(.35 + .1 * (k % 2)); }
			{ std::lock_guard<std::mutex> g(l); left--; }
			c.notify_all();
		}
	});
	thread_is(1, "Main");
	for (int f = 0; f < 150; f++) {
		Scope s("drawPage");
		{ Scope s("layoutPage"); spin_ms(about(.4)); }
		{ std::lock_guard<std::mutex> g(l); round++; left = 4; }
		c.notify_all();
		{ Scope s("waitForTiles"); std::unique_lock<std::mutex> g(l); c.wait(g, [&] { return left == 0; }); }
		{ Scope s("composite"); spin_ms(about(.3)); }
	}
	{ std::lock_guard<std::mutex> g(l); end = true; }
	c.notify_all();
	for (auto &t : ts) t.join();
}
static void broker() { // one subscriber of four is slow, and the broker waits until its queue has room
	std::mutex l;
	std::condition_variable c;
	std::deque<int> queues[4];
	bool end = false;
	std::vector<std::thread> ts;
	static const char *names[] = {"sub-mail", "sub-search", "sub-billing", "sub-audit"};
	for (int n = 0; n < 4; n++) ts.emplace_back([&, n] {
		thread_is(20 + n, names[n]);
		for (;;) {
			{ std::unique_lock<std::mutex> g(l); c.wait(g, [&] { return !queues[n].empty() || end; }); if (queues[n].empty()) return; queues[n].pop_front(); }
			c.notify_all();
			{ Scope s(n == 0 ? "sendMail" : n == 1 ? "indexDocument" : n == 2 ? "bookInvoice" : "appendAudit"); nap(is("subscriber") && n == 2 ? 4.5 : .5 + .1 * n); }
		}
	});
	thread_is(1, "broker");
	for (int i = 0; i < 240; i++) {
		{ Scope s("readMessage"); spin_ms(about(.5)); }
		Scope s("deliver");
		std::unique_lock<std::mutex> g(l);
		for (auto &q : queues) { c.wait(g, [&] { return q.size() < 8; }); q.push_back(i); }
		c.notify_all();
	}
	{ std::lock_guard<std::mutex> g(l); end = true; }
	c.notify_all();
	for (auto &t : ts) t.join();
}
static void loads() { // a cache of textures that holds eight, in a scene of six and later of eleven
	thread_is(1, "Main");
	std::list<int> cache;
	for (int f = 0; f < 300; f++) {
		Scope s("renderFrame", arg("frame", f));
		{ Scope s("cullScene"); spin_ms(about(.2)); }
		for (int k = 0; k < 3; k++) {
			int id = (f * 3 + k) % (is("textures") && f > 140 ? 11 : 6);
			Scope s("bindTexture", arg("id", id));
			bool hit = false;
			for (int c : cache) hit |= c == id;
			cache.remove(id);
			if (!hit) { Scope s("uploadTexture"); nap(1.3); }
			cache.push_front(id);
			if (cache.size() > 8) cache.pop_back();
			spin_ms(.03);
		}
		{ Scope s("drawMeshes"); spin_ms(about(.6)); }
	}
}

int main(int argc, char **argv) {
	std::string kind = argv[1];
	auto dash = kind.find('-');
	mode = kind.substr(dash + 1);
	kind = kind.substr(0, dash);
	if (kind == "native") return loops(2.6), 0;
	if (kind == "grind") return turns(60), 0;
	if (kind == "audio") player();
	if (kind == "physics") physics();
	if (kind == "tiles") tiles();
	if (kind == "broker") broker();
	if (kind == "viewer") loads();
	FILE *f = fopen(argv[2], "w");
	const char *sep = "[";
	for (auto &e : events) {
		fprintf(f, "%s\n{\"name\":\"%s\",\"ph\":\"%c\",\"pid\":1,\"tid\":%d,\"ts\":%.1f", sep, e.name, e.phase, e.tid, e.at * 1e6);
		if (e.phase == 'X') fprintf(f, ",\"dur\":%.1f", e.length * 1e6);
		if (!e.args.empty()) fprintf(f, ",\"args\":%s", e.args.c_str());
		fprintf(f, "}");
		sep = ",";
	}
	fprintf(f, "\n]\n");
	fclose(f);
}
