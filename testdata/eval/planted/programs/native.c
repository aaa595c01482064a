// Loops for perf record. Usage: native MODE. Each mode has one planted cause, or none.
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static volatile long sink;

NOINLINE long parse_digits(const char *s) { long v = 0; while (*s >= '0' && *s <= '9') v = v * 10 + *s++ - '0'; return v; }
NOINLINE void parse_all(int n) { char b[32]; for (int i = 0; i < n; i++) { sprintf(b, "%d", i * 7); sink += parse_digits(b); } }
NOINLINE void transform(int n) { double x = 1; for (int i = 0; i < n; i++) x = sin(x) + 1.1; sink += (long)x; }
NOINLINE void shuffle(int n) { static int a[4096]; for (int i = 0; i < n; i++) { int k = rand() % 4096, t = a[i % 4096]; a[i % 4096] = a[k]; a[k] = t + i; } }
NOINLINE void checksum(int n) { unsigned h = 1; for (int i = 0; i < n; i++) h = h * 31 + (h >> 7) + i; sink += h; }

struct item { long key; struct item *next; };
static struct item *list;
NOINLINE struct item *find_item(long key) { struct item *p = list; while (p && p->key != key) p = p->next; return p; }
NOINLINE void registry(int n) { for (int i = 0; i < n; i++) if (!find_item(i % 700)) { struct item *p = malloc(sizeof *p); p->key = i % 700; p->next = list; list = p; } }

NOINLINE void flush_log(int fd) { char b[512]; memset(b, 'x', sizeof b); for (int i = 0; i < 60; i++) if (pwrite(fd, b, sizeof b, 0) < 0) abort(); }
NOINLINE void fresh_pages(void) { char *p = malloc(8 << 20); for (int i = 0; i < 8 << 20; i += 4096) p[i] = 1; free(p); }
NOINLINE long walk_tree(int depth) { if (depth == 0) { transform(1); return 1; } return walk_tree(depth - 1) + (depth % 3 ? 0 : walk_tree(depth - 1)); }

int main(int argc, char **argv) {
	const char *mode = argv[1];
	int fd = open("/dev/shm/native.log", O_RDWR | O_CREAT, 0600);
	for (double t = now(); now() - t < 4;) {
		if (!strcmp(mode, "list")) registry(2000);
		if (!strcmp(mode, "log")) for (int i = 0; i < 60; i++) flush_log(fd);
		if (!strcmp(mode, "pages")) fresh_pages();
		if (!strcmp(mode, "tree")) walk_tree(26);
		int n = !strcmp(mode, "nothing") ? 4 : 1;
		parse_all(1500 * n / 4), transform(9000 * n / 4), shuffle(9000 * n / 4), checksum(60000 * n / 4);
	}
	unlink("/dev/shm/native.log");
	return 0;
}
