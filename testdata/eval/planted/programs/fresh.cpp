// Usage: fresh MODE
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
#define NOINLINE __attribute__((noinline))
using clk = std::chrono::steady_clock;
static volatile long sink;
struct Scene { std::vector<double> points; };
NOINLINE Scene snapshot(const Scene& s) { return s; }
NOINLINE void move_point(Scene& s, size_t i) { s.points[i % s.points.size()] += 1; for (int k = 0; k < 20000; k++) sink += k ^ i; }
NOINLINE void edit(Scene& s, std::vector<Scene>& undo, size_t i) { undo.push_back(snapshot(s)); if (undo.size() > 4) undo.erase(undo.begin()); move_point(s, i); }
NOINLINE void add_event(std::vector<long>& v, long e) { v.insert(v.begin(), e); }
NOINLINE void digest(const std::vector<long>& v) { long h = 0; for (int k = 0; k < 3; k++) for (long e : v) h = h * 31 + e; sink += h; }
NOINLINE int count_words(const char* s) { int n = 0; for (size_t i = 0; i < strlen(s); i++) { asm volatile("" ::: "memory"); if (s[i] == ' ') n++; } return n; }
NOINLINE void make_text(std::string& t, int i) { t.clear(); for (int k = 0; k < 3000; k++) { t += "word"; t += (char)('a' + (i + k) % 26); if (k % 3) t += ' '; } }
NOINLINE void upper(std::string& t) { for (int k = 0; k < 60; k++) for (char& c : t) c ^= 32; }
int main(int, char** v) {
	std::string mode = v[1];
	auto end = clk::now() + std::chrono::seconds(3);
	Scene s; s.points.resize(40000);
	std::vector<Scene> undo;
	for (long i = 0; clk::now() < end; i++) {
		if (mode == "snapshot") edit(s, undo, i);
		if (mode == "front") { std::vector<long> e; for (int k = 0; k < 30000; k++) add_event(e, i + k); digest(e); }
		if (mode == "length") { std::string t; make_text(t, i); upper(t); sink += count_words(t.c_str()); }
	}
}
