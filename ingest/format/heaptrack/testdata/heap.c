#include <stdlib.h>
#include <string.h>
struct node { struct node *next; char b[100]; };
static void *keep[64];
__attribute__((noinline)) void *make(int n) { return malloc(n); }
__attribute__((noinline)) void grow(void) { for (int i = 0; i < 50; i++) keep[i] = make(1000 + i); }
__attribute__((noinline)) void shrink(void) { for (int i = 0; i < 40; i++) free(keep[i]); }
__attribute__((noinline)) void temp(void) { for (int i = 0; i < 30; i++) free(calloc(3, 7)); }
__attribute__((noinline)) void again(void) { char *p = malloc(10); for (int i = 0; i < 5; i++) p = realloc(p, 100 * (i + 1)); keep[60] = p; }
int main(void) { grow(); temp(); shrink(); again(); grow(); return 0; }
