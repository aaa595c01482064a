// Game and server loops that time their scopes and write them as a Chrome trace. Each
// mode has one planted cause, or none. Usage: game MODE OUT.json
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
static Clock::time_point begin = Clock::now();
static double now() { return std::chrono::duration<double, std::micro>(Clock::now() - begin).count(); }

struct Event { std::string name, args; double at, length; int pid, tid; char phase; };
static std::mutex all_lock;
static std::vector<Event> all;
static std::atomic<int> threads{0};
static thread_local std::vector<Event> mine;
static thread_local int tid, pid = 1;

static void flush() { std::lock_guard<std::mutex> g(all_lock); all.insert(all.end(), mine.begin(), mine.end()); mine.clear(); }
static void thread_name(const std::string &n) { tid = ++threads; mine.push_back({"thread_name", "{\"name\":\"" + n + "\"}", 0, 0, pid, tid, 'M'}); }
struct Scope {
	std::string name, args; double at;
	Scope(std::string n, std::string a = "") : name(std::move(n)), args(std::move(a)), at(now()) {}
	~Scope() { mine.push_back({name, args, at, now() - at, pid, tid, 'X'}); }
};
static void counter(const char *n, double v) { mine.push_back({n, "{\"value\":" + std::to_string((long)v) + "}", now(), 0, pid, tid, 'C'}); }

static double per_us;
static volatile double sink;
static void loop(long n) { double x = 1; for (long i = 0; i < n; i++) x = x * 1.0000001 + 1e-9; sink = x; }
static void calibrate() { double best = 1e9; for (int i = 0; i < 20; i++) { double t = now(); loop(200000); best = std::min(best, now() - t); } per_us = 200000 / best; }
static thread_local std::mt19937 rng(7);
static double vary(double f) { return 1 - f + 2 * f * (rng() % 10000) / 10000.0; }
static void work(double us) { loop((long)(us * vary(.15) * per_us)); }
static void nap(double us) { std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(us)); }

static std::string mode;
static bool is(const char *m) { return mode == m; }
static std::atomic<bool> done{false};
static std::mutex assets;

static void frame_parts(int n, double scale) {
	{ Scope s("Input::poll"); work(30); }
	{ Scope s("Physics::step"); for (int i = 0; i < 3; i++) { Scope s("Physics::solve"); work(110 * scale); } }
	{ Scope s("Animation::update"); work(180); }
	{ Scope s("Scene::cull"); work(160); }
	{ Scope s("Renderer::draw"); { Scope s("Renderer::sort"); work(60); } { Scope s("Renderer::submit"); work(240); } }
}

static void worker(int n) {
	thread_name("Worker " + std::to_string(n));
	rng.seed(n);
	double next = 0.5e6;
	while (!done) {
		if (is("evict") && n == 1 && now() > next) {
			next += 95e3;
			Scope s("AssetCache::evict");
			std::lock_guard<std::mutex> g(assets);
			work(9000);
		}
		if (is("upload") && n == 2 && now() > next) {
			next += 90e3 * vary(.6);
			Scope s("Texture::transcode");
			std::lock_guard<std::mutex> g(assets);
			work(6000);
		}
		{ Scope s(n == 1 ? "Job::pathfind" : n == 2 ? "Job::decode" : "Job::mix"); work(300 * vary(.5)); }
		nap(2600);
	}
	flush();
}

static void game() {
	std::vector<std::thread> ws;
	for (int i = 1; i <= 3; i++) ws.emplace_back(worker, i);
	thread_name("Main");
	double save = 0.6e6;
	std::vector<double> entities(1000);
	const char *levels[] = {"grass", "desert", "ice", "cave"};
	int frames = is("idle") || is("stutter") ? 300 : is("many") ? 60 : 800;
	for (int n = 0; n < frames; n++) {
		std::string level = levels[(n / 7) % 4];
		std::string name = "Frame", args = "{\"frame\":" + std::to_string(n) + "}";
		if (is("level")) args = "{\"frame\":" + std::to_string(n) + ",\"level\":\"" + level + "\"}";
		if (is("numbered")) name = "Frame#" + std::to_string(n), args = "";
		{
			Scope s(name, args);
			{ Scope s("Assets::get"); std::lock_guard<std::mutex> g(assets); work(40); }
			double scale = 1;
			if (is("level") && level == "ice") scale = 6;
			if (is("leak")) scale = .6 + n / 300.0;
			frame_parts(n, scale);
			if (is("autosave") && now() > save) { save += 90e3; work(11000); }
			if (is("numbered") && n % 61 == 60) { Scope s("Shader::compile"); work(12000); }
			if (is("many") ) { for (int i = 0; i < 260; i++) { Scope s("Entity::lookup"); work(4); } }
		}
		if (is("idle")) nap(6000);
		else if (is("stutter")) nap(n % 25 == 24 ? 30000 : 300);
		else nap(150);
	}
	done = true;
	for (auto &t : ws) t.join();
	flush();
}

// A server: requests on a pool of threads.
static std::mutex table_lock, queue_lock;
static std::condition_variable queue_cond;
static std::deque<double> waiting;

static void handler(int n, int requests, double scale) {
	thread_name((is("rank") ? "rank " : "handler ") + std::to_string(n));
	rng.seed(n + 100);
	for (int i = 0; i < requests; i++) {
		{
			Scope s("request", "{\"id\":" + std::to_string(i) + "}");
			{ Scope s("parse"); work(60); }
			{ Scope s("authorize"); work(40); }
			if (is("nplus1")) {
				{ Scope s("SELECT orders"); nap(150); }
				int items = 30 + rng() % 20;
				for (int k = 0; k < items; k++) { Scope s("SELECT customer WHERE id=?"); nap(60); }
			} else if (is("retry") && rng() % 11 == 0) {
				for (int k = 1; k <= 6; k++) { { Scope s("http attempt", "{\"try\":" + std::to_string(k) + ",\"status\":" + (k < 6 ? "503" : "200") + "}"); nap(900); } nap(400); }
			} else if (is("retry")) {
				Scope s("http attempt", "{\"try\":1,\"status\":200}"); nap(900);
			} else {
				{ Scope s("SELECT orders"); nap(150); }
				{ Scope s("SELECT customers"); nap(200); }
			}
			if (is("holder")) {
				{ Scope s("lock wait"); table_lock.lock(); }
				{ Scope s("Table::read"); work(20); }
				table_lock.unlock();
			}
			{ Scope s("render"); work(220 * scale); }
			{ Scope s("send"); work(50); }
		}
		nap(500 * vary(.9));
	}
	flush();
}

static void server() {
	std::vector<std::thread> ts;
	for (int n = 0; n < 5; n++) ts.emplace_back(handler, n, is("starve") && n == 3 ? 2 : is("nplus1") ? 20 : 150, 1.0);
	if (is("holder")) ts.emplace_back([] {
		thread_name("indexer");
		for (int i = 0; i < 40; i++) {
			{ Scope s("rebuild index"); { Scope s("scan rows"); work(1500); } table_lock.lock(); { Scope s("swap tables"); work(7000); } table_lock.unlock(); }
			nap(6000);
		}
		flush();
	});
	for (auto &t : ts) t.join();
}

// Ranks of a training: all wait for the slowest at a barrier.
static std::mutex bar_lock; static std::condition_variable bar_cond; static int arrived, generation;
static void barrier(int n) {
	std::unique_lock<std::mutex> g(bar_lock);
	int gen = generation;
	if (++arrived == n) { arrived = 0; generation++; bar_cond.notify_all(); return; }
	bar_cond.wait(g, [&] { return gen != generation; });
}
static void ranks() {
	std::vector<std::thread> ts;
	for (int n = 0; n < 4; n++) ts.emplace_back([n] {
		pid = n + 1;
		thread_name("rank " + std::to_string(n));
		mine.push_back({"process_name", "{\"name\":\"rank " + std::to_string(n) + "\"}", 0, 0, pid, tid, 'M'});
		rng.seed(n + 5);
		for (int i = 0; i < 150; i++) {
			Scope s("step#" + std::to_string(i));
			{ Scope s("load batch"); work(100); }
			{ Scope s("forward"); work(n == 2 && is("rank") ? 3300 : 900); }
			{ Scope s("backward"); work(1500); }
			{ Scope s("allreduce"); barrier(4); work(60); }
			{ Scope s("optimizer"); work(200); }
		}
		flush();
	});
	for (auto &t : ts) t.join();
}

// A producer that is faster than its consumer.
static void queue() {
	std::thread consumer([] {
		thread_name("consumer");
		for (;;) {
			double at;
			{ std::unique_lock<std::mutex> g(queue_lock); queue_cond.wait(g, [] { return !waiting.empty(); }); at = waiting.front(); waiting.pop_front(); counter("queue length", waiting.size()); }
			if (at < 0) break;
			Scope s("process", "{\"waited_us\":" + std::to_string((long)(now() - at)) + "}");
			{ Scope s("decode"); work(400); }
			{ Scope s("store"); work(500); }
		}
		flush();
	});
	thread_name("producer");
	for (int i = 0; i < 900; i++) {
		{ Scope s("receive"); work(80); }
		{ std::lock_guard<std::mutex> g(queue_lock); waiting.push_back(now()); counter("queue length", waiting.size()); }
		queue_cond.notify_one();
		nap(is("queue") ? 600 * vary(.8) : 1900 * vary(.8));
	}
	{ std::lock_guard<std::mutex> g(queue_lock); waiting.push_back(-1); }
	queue_cond.notify_one();
	consumer.join();
	flush();
}

int main(int argc, char **argv) {
	calibrate();
	begin = Clock::now();
	std::string kind = argv[1];
	auto dash = kind.find('-');
	mode = kind.substr(dash + 1);
	kind = kind.substr(0, dash);
	if (kind == "game") game();
	else if (kind == "server") server();
	else if (kind == "ranks") ranks();
	else if (kind == "queue") queue();
	FILE *f = fopen(argv[2], "w");
	fprintf(f, "[");
	for (size_t i = 0; i < all.size(); i++) {
		auto &e = all[i];
		fprintf(f, "%s\n{\"name\":\"%s\",\"ph\":\"%c\",\"pid\":%d,\"tid\":%d,\"ts\":%.1f", i ? "," : "", e.name.c_str(), e.phase, e.pid, e.tid, e.at);
		if (e.phase == 'X') fprintf(f, ",\"dur\":%.1f", e.length);
		if (!e.args.empty()) fprintf(f, ",\"args\":%s", e.args.c_str());
		fprintf(f, "}");
	}
	fprintf(f, "\n]\n");
	fclose(f);
}
