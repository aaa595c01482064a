"""Programs whose calls are written as a Chrome trace by sys.setprofile, as tracers of
Python do. Usage: traced.py MODE OUT.json"""
import json, sqlite3, sys, threading, time

mode, out = sys.argv[1:]
events, begin = [], time.perf_counter()


def profile(frame, event, arg, stack=threading.local()):
    if event not in ("call", "return", "c_call", "c_return"):
        return
    t = (time.perf_counter() - begin) * 1e6
    s = stack.__dict__.setdefault("s", [])
    if event == "call":
        s.append((frame.f_code.co_qualname if hasattr(frame.f_code, "co_qualname") else frame.f_code.co_name, t))
    elif event == "c_call":
        s.append((arg.__qualname__, t))
    elif s:
        name, at = s.pop()
        if t - at >= 3:
            events.append({"name": name, "ph": "X", "pid": 1, "tid": threading.get_ident() % 100000, "ts": round(at, 1), "dur": round(t - at, 1)})


db = sqlite3.connect(":memory:", check_same_thread=False)
db.execute("create table customer (id integer primary key, name text)")
db.execute("create table orders (id integer primary key, customer integer, total real)")
db.executemany("insert into customer values (?, ?)", [(i, "name %d" % i) for i in range(300)])
db.executemany("insert into orders values (?, ?, ?)", [(i, i % 300, i * 1.5) for i in range(20000)])


def customer_of(i):
    return db.execute("select name from customer where id = ?", (i,)).fetchone()


def list_orders(n):
    rows = db.execute("select id, customer, total from orders limit ?", (n,)).fetchall()
    if mode == "nplus1":
        return [(r[0], customer_of(r[1])) for r in rows]
    return db.execute("select o.id, c.name from orders o join customer c on c.id = o.customer limit ?", (n,)).fetchall()


def render(rows):
    return "".join("<li>%s</li>" % (r,) for r in rows)


def tokenize(n):
    return [w for i in range(n) for w in ("word %d of a text" % i).split()]


def remove_stopwords(words):
    stop = ["stop%d" % i for i in range(1500)]
    return [w for w in words if w not in stop]


def call_service(i):
    time.sleep(.0015)
    if mode == "retry" and i % 17 == 16:
        for _ in range(7):
            try:
                failing_attempt()
            except OSError:
                time.sleep(.001)


def failing_attempt():
    time.sleep(.002)
    raise OSError("503")


def page(i):
    return render(list_orders(120 if mode == "nplus1" else 60))


def task(i):
    page(i)
    tokenize(60)
    call_service(i)
    if mode == "stopwords":
        remove_stopwords(tokenize(40))


def main():
    for i in range(25 if mode == "nplus1" else 250):
        task(i)


sys.setprofile(profile)
main()
sys.setprofile(None)
json.dump({"traceEvents": events}, open(out, "w"), separators=(",", ":"))
