"""Programs whose calls are written as a Chrome trace by sys.setprofile and
threading.setprofile. Usage: more.py MODE OUT.json"""
import copy, functools, json, random, sys, threading, time

mode, out = sys.argv[1:]
events, begin, local = [], time.perf_counter(), threading.local()
random.seed(5)


def profile(frame, event, arg):
    if event not in ("call", "return", "c_call", "c_return", "c_exception"):
        return
    t = (time.perf_counter() - begin) * 1e6
    s = local.__dict__.setdefault("stack", [])
    if event == "call":
        s.append((frame.f_code.co_qualname if hasattr(frame.f_code, "co_qualname") else frame.f_code.co_name, t))
    elif event == "c_call":
        s.append((getattr(arg, "__qualname__", str(arg)), t))
    elif s:
        name, at = s.pop()
        if t - at >= 12:
            events.append({"name": name, "ph": "X", "pid": 1, "tid": threading.get_native_id(), "ts": round(at, 1), "dur": round(t - at, 1)})


def work(us):
    end = time.perf_counter() + us * random.uniform(.85, 1.15) / 1e6
    while time.perf_counter() < end:
        pass


SETTINGS = {"section %d" % i: {"key %d" % k: [k, str(k)] for k in range(12)} for i in range(14)}


def settings():
    return copy.deepcopy(SETTINGS)


def read_profile(user):
    time.sleep(.004)
    return {"user": user}


@functools.lru_cache(maxsize=64)
def load_profile(user):
    return read_profile(user)


def import_plugins():
    for name in ("auth", "billing", "search", "mail"):
        load_plugin(name)


def load_plugin(name):
    work(90000)


def job_done(started):
    return time.perf_counter() - started > .045


def wait_for_job():
    started = time.perf_counter()
    while not job_done(started):
        time.sleep(.005)


def connect(n):
    time.sleep(.0006)
    if mode == "backoff" and n % 23 == 11:
        for attempt in range(5):
            back_off(attempt)


def back_off(attempt):
    time.sleep(.002 * 2 ** attempt)


log_lock, lines = threading.Lock(), []


def write_log(n):
    with log_lock:
        time.sleep(.006)
        lines.append(n)


def parse(n):
    work(150)


def authorize(n):
    work(120)


def render(n):
    work(260)


def request(n):
    parse(n)
    authorize(n)
    connect(n)
    if mode == "deepcopy":
        settings()
    if mode == "lru":
        load_profile(n % 50 if n < 150 else n % 90)
    if mode == "poll" and n % 3 == 0:
        wait_for_job()
    if mode == "log":
        write_log(n)
    render(n)


def serve(requests):
    for n in range(requests):
        request(n)


def main():
    if mode == "plugins":
        import_plugins()
    if mode != "log":
        return serve(60 if mode in ("poll", "deepcopy") else 300)
    threads = [threading.Thread(target=serve, args=(50,)) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


threading.setprofile(profile)
sys.setprofile(profile)
main()
sys.setprofile(None)
json.dump({"traceEvents": events}, open(out, "w"), separators=(",", ":"))
