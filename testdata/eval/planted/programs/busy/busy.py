"""Healthy programs that write a Chrome trace of their scopes: busy.py MODE OUT.json. Nothing is planted."""
import contextlib, json, queue, random, sys, threading, time

events = []

@contextlib.contextmanager
def span(name):
    at = time.perf_counter_ns()
    yield
    events.append(dict(ph="X", pid=1, tid=threading.get_native_id(), name=name, ts=at / 1e3, dur=(time.perf_counter_ns() - at) / 1e3))

def life():
    w = 48
    cells = {(random.randrange(w), random.randrange(w)) for _ in range(700)}
    for _ in range(250):
        with span("generation"):
            with span("neighbours"):
                near = {}
                for x, y in cells:
                    for dx in (-1, 0, 1):
                        for dy in (-1, 0, 1):
                            if dx or dy:
                                k = ((x + dx) % w, (y + dy) % w)
                                near[k] = near.get(k, 0) + 1
            with span("next"):
                cells = {k for k, n in near.items() if n == 3 or n == 2 and k in cells}
                if len(cells) < 300:
                    cells |= {(random.randrange(w), random.randrange(w)) for _ in range(400)}
            with span("show"):
                "\n".join("".join("#" if (x, y) in cells else "." for x in range(w)) for y in range(w))

def index():
    jobs, terms = queue.Queue(8), {}
    def work():
        while (n := jobs.get()) is not None:
            with span("document"):
                with span("tokens"):
                    words = ["t%d" % (n * k % 991) for k in range(2500)]
                with span("postings"):
                    for at, w in enumerate(words):
                        terms.setdefault(w, {}).setdefault(n, []).append(at)
    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    for n in range(400):
        jobs.put(n)
    for _ in threads:
        jobs.put(None)
    for t in threads:
        t.join()

random.seed(4)
{"life": life, "index": index}[sys.argv[1]]()
json.dump(events, open(sys.argv[2], "w"))
