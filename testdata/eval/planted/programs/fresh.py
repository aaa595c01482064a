"""Chrome traces as a game, a web server and a training loop would write them. Usage: fresh.py MODE OUT"""
import json, random, sys
mode, out = sys.argv[1:]
r = random.Random(mode)
ev = []
def span(name, tid, ts, dur, **args):
    e = {"name": name, "ph": "X", "pid": 1, "tid": tid, "ts": round(ts, 1), "dur": round(dur, 1)}
    if args: e["args"] = args
    ev.append(e)
def thread(tid, name): ev.append({"name": "thread_name", "ph": "M", "pid": 1, "tid": tid, "args": {"name": name}})
def j(v, s=.1): return v * r.lognormvariate(0, s)
def game(bad):
    thread(1, "Main"); thread(2, "Render"); thread(3, "Audio")
    t = 0
    for i in range(600):
        a = t
        d = j(900); span("Input::poll", 1, t + 5, d * .1); t += d * .1 + 10
        d = j(4200); span("World::update", 1, t, d); span("Physics::step", 1, t + 40, d * .5); span("AI::think", 1, t + 60 + d * .5, d * .3); t += d + 8
        if bad and r.random() < .035:
            d = j(21000, .3); span("Assets::get", 1, t, d + 60, id=r.randrange(900)); span("Texture::decode", 1, t + 30, d); t += d + 80
        elif r.random() < .6:
            d = j(40); span("Assets::get", 1, t, d, id=r.randrange(900)); t += d + 5
        d = j(5200, .12); span("Draw::submit", 1, t, d); span("Gpu::record", 2, t + 100, d * .8); t += d + 10
        span("Frame", 1, a, t - a, number=i); t += 15
        if i % 3 == 0: span("mix", 3, a + 300, j(900))
def server(mode):
    for k in range(8): thread(10 + k, "http-%d" % k)
    free, at, expires, builds = [0., 0., 0.], [j(500) for _ in range(8)], 0, 0
    todo = []
    n = 0
    exports = 0
    while min(at) < 6e6:
        k = at.index(min(at)); t = at[k]; a = t; n += 1
        kind = "GET /item"
        if mode == "pool" and r.random() < .018: kind = "GET /export"
        d = j(300); span("parse_request", 10 + k, t + 5, d); t += d + 20
        if mode == "pool":
            c = free.index(min(free)); w = max(0, free[c] - t); span("pool.acquire", 10 + k, t, w + j(8)); t += w + 15
            d = j(420000, .2) if kind == "GET /export" else j(1800, .2)
            span("export_rows" if kind == "GET /export" else "query_item", 10 + k, t, d); t += d + 10; free[c] = t
        else:
            if t > expires or t < builds:
                d = j(150000, .15); span("Cache.get", 10 + k, t, d + 30); span("rebuild", 10 + k, t + 10, d)
                builds = max(builds, t + d) if t > expires else builds
                if t > expires: expires = t + 2e6
                t += d + 40
            else: d = j(60); span("Cache.get", 10 + k, t, d); t += d + 5
        d = j(1500); span("render", 10 + k, t, d); t += d + 10
        span("handle", 10 + k, a, t - a, path=kind); at[k] = t + r.expovariate(1 / 9000)
def loop(mode):
    thread(1, "train"); t = 0
    for i in range(400):
        a = t
        grow = 1 + i / 60 if mode == "fragment" else 1
        d = j(1500) * grow; span("load_batch", 1, t + 5, d + 50); span("gather", 1, t + 25, d * .9); t += d + 70
        for n, v in ("forward", 5000), ("backward", 9500), ("update", 1700):
            d = j(v, .04); span(n, 1, t, d)
            if n != "update":
                for l in range(4): span("linear", 1, t + d * l / 4 + 5, d / 4 - 20, layer=l)
            t += d + 6
        if mode == "checkpoint" and i % 40 == 39:
            d = j(130000); span("save", 1, t, d); span("serialize", 1, t + 100, d * .6); span("write", 1, t + 200 + d * .6, d * .35); t += d + 10
        span("step", 1, a, t - a); t += 12
def serial():
    for k in range(6): thread(k, "w-%d" % k)
    at, free = [r.random() * 1e4 for _ in range(6)], 0
    while min(at) < 2e6:
        k = at.index(min(at)); t = a = at[k]
        for n, v in ("route", 60), ("auth", 400), ("session", 2500), ("query", 3000), ("render", 2200):
            if n == "session":
                w = max(0, free - t) + 3; span("Session::lock", k, t, w); t += w + 1; n = "Session::load"
            d = j(v); span(n, k, t + 3, d); t += d + 6
            if n == "Session::load": free = t
        span("handle", k, a, t - a + 4); at[k] = t + r.expovariate(1 / 7000)
def warmup():
    thread(1, "train"); thread(2, "loader"); t = 0
    for i in range(250):
        a = t
        for n, v in ("next batch", 800), ("forward", 900000 if i < 3 else 6000), ("loss", 900), ("backward", 11000), ("update", 2500):
            d = j(v); span(n, 1, t + 3, d); t += d + 6
        span("iteration %d" % i, 1, a, t - a + 4); span("load", 2, a + 100, j(7000)); t += 20
{"serial": serial, "warmup": warmup, "decode": lambda: game(True), "gnothing": lambda: game(False), "pool": lambda: server("pool"), "cache": lambda: server("cache"), "checkpoint": lambda: loop("checkpoint"), "fragment": lambda: loop("fragment")}[mode]()
json.dump({"traceEvents": ev}, open(out, "w"), separators=(",", ":"))
