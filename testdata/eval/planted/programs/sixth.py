"""Small services. Their calls are written as a Chrome trace by sys.setprofile, or, in modes
that begin with stacks, as collapsed stacks by a thread that samples. Usage: sixth.py MODE OUT"""
import collections, concurrent.futures, json, random, re, sys, threading, time

mode, out = sys.argv[1:]
events, begin, local = [], time.perf_counter(), threading.local()
random.seed(8)


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
        if t - at >= 15:
            events.append({"name": name, "ph": "X", "pid": 1, "tid": threading.get_native_id(), "ts": round(at, 1), "dur": round(t - at, 1)})


def spin(us):
    end = time.perf_counter() + us * random.uniform(.85, 1.15) / 1e6
    while time.perf_counter() < end:
        pass


def read_request():
    spin(130)


def check_access():
    spin(100)


def send_page():
    spin(240)


avatars = {}


def avatar_of(user):
    key = (user, time.perf_counter())
    if key not in avatars:
        avatars[key] = load_avatar(user)
    return avatars[key]


def load_avatar(user):
    time.sleep(.0021)
    return user


backlog = []


def drain_backlog():
    backlog.extend(range(24000))
    while backlog:
        take_first()


def take_first():
    for _ in range(2000):
        backlog.pop(0)


class Upstream:
    def __init__(self):
        self.until = 0

    def get(self, n):
        time.sleep(.0007)
        if 110 <= n < 150:  # down for a while
            for _ in range(3):
                try:
                    self.call()
                except TimeoutError:
                    pass

    def call(self):
        time.sleep(.008)
        raise TimeoutError


upstream = Upstream()
thumbs = concurrent.futures.ThreadPoolExecutor(1, "thumbs")


def render_thumb(n):
    time.sleep(.0034)


def thumbnail(n):
    thumbs.submit(render_thumb, n).result()


def write_audit(n):
    with open("audit.tmp", "a") as f:
        f.write("line %d\n" % n)
        f.flush()
        import os
        os.fsync(f.fileno())
    time.sleep(.0015)


def request(n):
    read_request()
    check_access()
    if mode == "avatar":
        avatar_of(n % 9)
    if mode == "backlog" and n % 12 == 5:
        drain_backlog()
    if mode == "upstream":
        upstream.get(n)
    if mode == "thumbs":
        thumbnail(n)
    if mode == "audit":
        write_audit(n)
    if mode == "nothing3":
        time.sleep(.001)
    send_page()


def serve(n):
    for i in range(n):
        request(i)


class Router:
    def __init__(self, n):
        self.patterns = ["/section%d/([a-z]+)/(\\d+)$" % i for i in range(n)]

    def match(self, url):
        for p in self.patterns:
            if m := re.match(p, url):
                return m


def parse_body(n):
    return dict(p.split("=") for p in "&".join("k%d=v%d" % (i, n) for i in range(300)).split("&"))


def count_terms(n):
    c = collections.Counter("term%d" % (i * n % 211) for i in range(1200))
    return c.most_common(5)


def to_json(n):
    return json.loads(json.dumps([{"id": i, "n": n} for i in range(200)]))


def as_table(rows):
    t = ""
    for r in rows:
        t = t + "<td>%s</td>" % r
    return t


class Money:
    def __init__(self, cents):
        self.cents = cents

    def __add__(self, other):
        return Money(self.cents + other.cents)


def total_of(n):
    t = Money(0)
    for i in range(n):
        t = t + Money(i)
    return t.cents


def sampled(do):
    counts, done = collections.Counter(), []
    main = threading.get_ident()

    def sample():
        while not done:
            time.sleep(.004)
            f, s = sys._current_frames().get(main), []
            while f:
                s.append(f.f_code.co_qualname if hasattr(f.f_code, "co_qualname") else f.f_code.co_name)
                f = f.f_back
            counts[";".join(reversed(s[:-1]))] += 1

    t = threading.Thread(target=sample)
    t.start()
    end = time.perf_counter() + 4
    n = 0
    while time.perf_counter() < end:
        n += 1
        do(n)
    done.append(1)
    t.join()
    with open(out, "w") as f:
        f.writelines("%s %d\n" % c for c in sorted(counts.items()))


if mode.startswith("stacks"):
    router = Router(700)

    def turn(n):
        parse_body(n)
        count_terms(n)
        to_json(n)
        as_table(range(400))
        total_of(500)
        if mode == "stacks-router":
            router.match("/section%d/abc/77" % (n * 37 % 700))

    sampled(turn)
else:
    threading.setprofile(profile)
    sys.setprofile(profile)
    if mode in ("thumbs", "audit", "nothing3"):
        ts = [threading.Thread(target=serve, args=(70,)) for _ in range(4)]
        for t in ts:
            t.start()
        for t in ts:
            t.join()
    else:
        serve(60 if mode == "backlog" else 280)
    sys.setprofile(None)
    json.dump({"traceEvents": events}, open(out, "w"), separators=(",", ":"))
