// Loops and threads for perf record, and loops that write a Chrome trace. Usage: more MODE
// [OUT.json]. Each mode has one planted cause, or none.
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
using Clock = std::chrono::steady_clock;
static const auto begin = Clock::now();
static double now() { return std::chrono::duration<double>(Clock::now() - begin).count(); }
static std::string mode;
static bool is(const char *m) { return mode == m; }
static volatile long sink;
static void name_thread(const char *n) { pthread_setname_np(pthread_self(), n); }
static void nap(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); }

// Work that stands for the rest of a program, in comparable parts.
NOINLINE void sum_prices(int n) { double x = 1; for (int i = 0; i < n; i++) x = std::sqrt(x * 3) + .5; sink += (long)x; }
NOINLINE void mix_bits(int n) { unsigned h = 7; for (int i = 0; i < n; i++) h = (h ^ i) * 16777619u + (h >> 9); sink += h; }
NOINLINE void permute(int n) { static thread_local int a[2048]; for (int i = 0; i < n; i++) { int k = (i * 7919) & 2047; std::swap(a[i & 2047], a[k]); a[k]++; } }
NOINLINE void format_numbers(int n) { char b[40]; for (int i = 0; i < n; i++) sink += snprintf(b, sizeof b, "%d,%d", i, i * 3); }
NOINLINE void rest(int n) { sum_prices(1400 * n), mix_bits(10000 * n), permute(9000 * n), format_numbers(180 * n); }

struct Counters { std::atomic<long> hits, misses; };
static Counters counters;
NOINLINE void count_hits(int n) { for (int i = 0; i < n; i++) counters.hits.fetch_add(1, std::memory_order_relaxed); }
NOINLINE void count_misses(int n) { for (int i = 0; i < n; i++) counters.misses.fetch_add(1, std::memory_order_relaxed); }

NOINLINE void append_line(char *text, const char *line) { strcat(text, line); }
NOINLINE void build_report(int n) { static char text[200000]; text[0] = 0; for (int i = 0; i < n; i++) append_line(text, "one line of the report\n"); sink += text[5]; }

NOINLINE int parse_field(const std::string &s) { if (s.empty() || s[0] < '0' || s[0] > '9') throw std::invalid_argument("no number: " + s); return s[0] - '0'; }
NOINLINE void parse_rows(int n) { for (int i = 0; i < n; i++) try { sink += parse_field(i % 3 ? "n/a" : "7"); } catch (const std::invalid_argument &) { sink++; } }

static std::atomic_flag busy = ATOMIC_FLAG_INIT;
NOINLINE void spin_lock() { while (busy.test_and_set(std::memory_order_acquire)); }
NOINLINE void update_shared() { spin_lock(); mix_bits(60000); busy.clear(); }

static std::vector<unsigned> table;
NOINLINE void lookup_slots(int n) { static thread_local unsigned at = 1; for (int i = 0; i < n; i++) at = table[(at * 2654435761u + i) % table.size()]; sink += at; }

struct Board { int cells[4096]; };
NOINLINE int evaluate(Board b) { b.cells[7]++; return b.cells[7] + b.cells[4000]; }
NOINLINE void search_moves(int n) { static Board b; for (int i = 0; i < n; i++) { b.cells[i & 4095] = i; sink += evaluate(b); } }

static void loops() {
	double until = now() + 2.6;
	std::vector<std::thread> all;
	int threads = is("sharing") || is("spinlock") ? 3 : is("cpus") ? 2 : 1;
	if (is("cache")) { table.resize(30 << 20); for (size_t i = 0; i < table.size(); i++) table[i] = i * 2246822519u; }
	for (int n = 0; n < threads; n++) all.emplace_back([=] {
		name_thread(("worker-" + std::to_string(n)).c_str());
		while (now() < until) {
			if (is("sharing")) n % 2 ? count_misses(60000) : count_hits(60000);
			if (is("concat")) build_report(500);
			if (is("throw")) parse_rows(500);
			if (is("spinlock")) update_shared();
			if (is("cache")) lookup_slots(40000);
			if (is("copy")) search_moves(900);
			rest(1);
		}
	});
	for (auto &t : all) t.join();
}

// Threads that wait, for perf sched and ftrace.
static std::mutex registry;
NOINLINE void spin_ms(double ms) { double t = now() + ms / 1e3; while (now() < t) mix_bits(2000); }

static void waits() {
	double until = now() + 1.2;
	std::vector<std::thread> all;
	auto run = [&](const char *name, std::function<void()> turn) { all.emplace_back([=] { name_thread(name); while (now() < until) turn(); }); };
	if (is("flusher")) run("flusher", [] { { std::lock_guard<std::mutex> g(registry); nap(18); } nap(25); });
	if (is("pinned")) { cpu_set_t one; CPU_ZERO(&one); CPU_SET(0, &one); sched_setaffinity(0, sizeof one, &one); }
	int fd = open("more.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int n = 0; n < 3; n++) {
		static const char *names[] = {"handler-0", "handler-1", "handler-2"};
		run(names[n], [=] {
			if (is("fsync") && n == 0) { for (int i = 0; i < 4; i++) if (pwrite(fd, names, 8, 0) < 0) abort(); fsync(fd); }
			if (is("flusher")) { std::lock_guard<std::mutex> g(registry); spin_ms(.2); }
			spin_ms(is("pinned") ? 3 : .4);
			nap(is("pinned") ? .3 : 3);
		});
	}
	for (auto &t : all) t.join();
	unlink("more.tmp");
}

// A small engine that times its scopes.
struct Event { std::string name, args; double at, length; int tid; char phase; };
static std::mutex events_lock;
static std::vector<Event> events;
static thread_local int tid;
static void event(Event e) { std::lock_guard<std::mutex> g(events_lock); events.push_back(std::move(e)); }
struct Scope { std::string name, args; double at; Scope(std::string n, std::string a = "") : name(std::move(n)), args(std::move(a)), at(now()) {} ~Scope() { event({name, args, at, now() - at, tid, 'X'}); } };
static void counter(const char *n, long v) { event({n, "{\"value\":" + std::to_string(v) + "}", now(), 0, tid, 'C'}); }
static void thread_is(int n, const char *name) { tid = n; event({"thread_name", std::string("{\"name\":\"") + name + "\"}", 0, 0, n, 'M'}); }
static std::mt19937 dice(11);
static double about(double ms) { return ms * (.9 + .2 * (dice() % 1000) / 1000); }

static std::mutex jobs_lock;
static std::condition_variable jobs_cond;
static int jobs_round, jobs_left;
static std::atomic<bool> finished{false};
static void job_worker(int n) {
	static const char *names[] = {"Job::particles", "Job::cloth", "Job::sound"};
	thread_is(n + 2, ("Job thread " + std::to_string(n)).c_str());
	for (int round = 0;;) {
		{ std::unique_lock<std::mutex> g(jobs_lock); jobs_cond.wait(g, [&] { return jobs_round != round || finished; }); if (jobs_round == round) return; round = jobs_round; }
		{ Scope s(names[n]); nap(is("jobs") && n == 1 ? 5.5 : .7 + .1 * n); }
		{ std::lock_guard<std::mutex> g(jobs_lock); jobs_left--; }
		jobs_cond.notify_all();
	}
}
static void run_jobs() {
	{ std::lock_guard<std::mutex> g(jobs_lock); jobs_round++; jobs_left = 3; }
	jobs_cond.notify_all();
	Scope s("Jobs::wait");
	std::unique_lock<std::mutex> g(jobs_lock);
	jobs_cond.wait(g, [] { return jobs_left == 0; });
}
static void engine(const char *out) {
	std::vector<std::thread> ts;
	for (int n = 0; n < 3; n++) ts.emplace_back(job_worker, n);
	thread_is(1, "Main");
	long memory = 40 << 20;
	for (int f = 0; f < 320; f++) {
		{
			Scope s("Tick");
			{ Scope s("World::update"); { Scope s("World::scripts"); spin_ms(about(.35)); } { Scope s("World::move"); spin_ms(about(.3)); } }
			if (is("stream") && f % 37 == 20) { Scope s("Level::streamIn", "{\"file\":\"chunk" + std::to_string(f) + ".pak\"}"); nap(about(14)); }
			run_jobs();
			{ Scope s("View::render"); { Scope s("View::batch"); spin_ms(about(.25)); } { Scope s("View::present"); spin_ms(is("fade") && f > 200 ? about(2.6) : about(.4)); } }
			if (is("textures") && f % 4 == 0) memory += 1300000;
			counter("texture memory", memory + dice() % 40000);
		}
		nap(.4);
	}
	finished = true;
	jobs_cond.notify_all();
	for (auto &t : ts) t.join();
	FILE *f = fopen(out, "w");
	fprintf(f, "[");
	const char *sep = "";
	for (auto &e : events) {
		fprintf(f, "%s\n{\"name\":\"%s\",\"ph\":\"%c\",\"pid\":1,\"tid\":%d,\"ts\":%.1f", sep, e.name.c_str(), e.phase, e.tid, e.at * 1e6);
		if (e.phase == 'X') fprintf(f, ",\"dur\":%.1f", e.length * 1e6);
		if (!e.args.empty()) fprintf(f, ",\"args\":%s", e.args.c_str());
		fprintf(f, "}");
		sep = ",";
	}
	fprintf(f, "\n]\n");
	fclose(f);
}

int main(int argc, char **argv) {
	std::string kind = argv[1];
	auto dash = kind.find('-');
	mode = kind.substr(dash + 1);
	kind = kind.substr(0, dash);
	if (kind == "native") loops();
	if (kind == "sched") waits();
	if (kind == "engine") engine(argv[2]);
}
