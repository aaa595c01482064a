// Healthy programs that write a Chrome trace of their scopes: busy MODE OUT.json. Nothing is planted.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static FILE *out;
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
static long start;
struct ev { const char *name; int tid; long at, took; };
static struct ev *evs[4];
static int n[4], room[4];
static void span(const char *name, int tid, long at) {
	if (n[tid] == room[tid]) evs[tid] = realloc(evs[tid], (room[tid] = room[tid] ? room[tid] * 2 : 4096) * sizeof(struct ev));
	evs[tid][n[tid]++] = (struct ev){name, tid, at - start, now() - at};
}
#define SPAN(tid, name, code) do { long at_ = now(); code; span(name, tid, at_); } while (0)
static unsigned rnd(unsigned *s) { *s ^= *s << 13; *s ^= *s >> 17; *s ^= *s << 5; return *s; }
static volatile long sink;

// compress: a simple compressor of blocks of text.
static unsigned char text[1 << 16], packed[1 << 17];
static int table[1 << 12];
static void fill(unsigned *s) { for (int i = 0; i < 1 << 16; i++) text[i] = rnd(s) % 3 ? text[(i + 65000) & 65535] : 'a' + rnd(s) % 20; }
static int match(void) { int found = 0; memset(table, 0, sizeof table); for (int i = 0; i < (1 << 16) - 4; i++) { unsigned h = (text[i] * 2654435761u ^ text[i + 1] * 40503u ^ text[i + 2] * 97u) >> 20; int p = table[h]; int l = 0; while (l < 16 && i + l < 1 << 16 && text[p + l] == text[i + l]) l++; found += l > 3; table[h] = i; } return found; }
static void encode(void) { int k = 0; for (int i = 0; i < 1 << 16; i++) packed[k++] = text[i] ^ (i & 3); sink += packed[k - 1]; }
static void check(void) { unsigned a = 1, b = 0; for (int i = 0; i < 1 << 16; i++) a = (a + packed[i]) % 65521, b = (b + a) % 65521; sink += a ^ b; }
static void compress(void) { unsigned s = 7; for (int i = 0; i < 500; i++) SPAN(0, "block", { SPAN(0, "read", fill(&s)); SPAN(0, "match", sink += match()); SPAN(0, "encode", encode()); SPAN(0, "checksum", check()); }); }

// trace: rows of a ray tracer on two threads.
static double hit(double x, double y, int k) { double d = 0; for (int i = 0; i < k; i++) { double b = x * cos(i) + y * sin(i); d += sqrt(fabs(b * b - x * x - y * y + 4)); } return d; }
static void *rows(void *arg) { int tid = (int)(long)arg; for (int r = 0; r < 400; r++) SPAN(tid, "row", { double sum = 0; SPAN(tid, "primary", for (int x = 0; x < 400; x++) sum += hit(x, r, 12)); SPAN(tid, "shade", for (int x = 0; x < 400; x++) sum += hit(r, x, 5)); sink += sum; }); return 0; }
static void ray(void) { pthread_t t[2]; for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, rows, (void *)(i + 1)); for (int i = 0; i < 2; i++) pthread_join(t[i], 0); }

// bodies: ticks of a simulation of stars.
static double px[300], py[300], vx[300], vy[300];
static void forces(void) { for (int i = 0; i < 300; i++) { double fx = 0, fy = 0; for (int j = 0; j < 300; j++) { double dx = px[j] - px[i], dy = py[j] - py[i], d = dx * dx + dy * dy + 1; fx += dx / (d * sqrt(d)); fy += dy / (d * sqrt(d)); } vx[i] += fx * .01, vy[i] += fy * .01; } }
static void move(void) { for (int k = 0; k < 40; k++) for (int i = 0; i < 300; i++) px[i] += vx[i] * .001, py[i] += vy[i] * .001; }
static void energy(void) { double e = 0; for (int i = 0; i < 300; i++) for (int j = 0; j < 60; j++) e += sqrt(vx[i] * vx[i] + px[j] * px[j]); sink += e; }
static void bodies(void) { unsigned s = 3; for (int i = 0; i < 300; i++) px[i] = rnd(&s) % 1000, py[i] = rnd(&s) % 1000; for (int i = 0; i < 1200; i++) SPAN(0, "tick", { SPAN(0, "forces", forces()); SPAN(0, "move", move()); SPAN(0, "energy", energy()); }); }

int main(int argc, char **argv) {
	start = now();
	if (!strcmp(argv[1], "compress")) compress(); else if (!strcmp(argv[1], "ray")) ray(); else bodies();
	out = fopen(argv[2], "w");
	fprintf(out, "[{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}}", argv[1]);
	for (int t = 0; t < 4; t++) for (int i = 0; i < n[t]; i++) fprintf(out, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"name\":\"%s\",\"ts\":%.3f,\"dur\":%.3f}", t, evs[t][i].name, evs[t][i].at / 1e3, evs[t][i].took / 1e3);
	fprintf(out, "]\n");
	return fclose(out);
}
