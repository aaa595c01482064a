"""Keeps one program's part of a recording. Usage: only.py sched <TRACE, or only.py page
SECONDS <TRACE for the process of a page, from its first frame on."""
import collections, json, re, sys

OWN = {"more", "flusher", "handler-0", "handler-1", "handler-2"}
COMM = re.compile(r"((?:prev_comm|next_comm|comm)=)(.+?)( (?:prev_|next_|)pid=)")


def known(name):
    return name in OWN or name.startswith("swapper") or name == "<idle>"


def sched():
    for line in sys.stdin:
        m = re.match(r"^\s*(.*?)-(\d+)(\s+\[.*)$", line.rstrip("\n"))
        if line.startswith("#"):
            print(line, end="")
        elif m and ({g[1] for g in COMM.findall(m[3])} | {m[1]}) & OWN:
            rest = COMM.sub(lambda g: g[0] if known(g[2]) else g[1] + "other" + g[3], m[3])
            print("%16s-%-7s%s" % (m[1] if known(m[1]) else "other", m[2], rest))


def page(seconds):
    events = json.load(sys.stdin)["traceEvents"]
    renderers = {e["pid"] for e in events if e["name"] == "process_name" and e["args"]["name"] == "Renderer"}
    named = collections.Counter(e["pid"] for e in events if e["pid"] in renderers and "page.html" in json.dumps(e.get("args", {})))
    mine = [e for e in events if e["pid"] == named.most_common(1)[0][0]]
    end = min(e["ts"] for e in mine if e["name"] == "FireAnimationFrame") + seconds * 1e6
    json.dump({"traceEvents": [e for e in mine if e["ph"] == "M" or e["ts"] < end]}, sys.stdout, separators=(",", ":"))


sched() if sys.argv[1] == "sched" else page(float(sys.argv[2]))
