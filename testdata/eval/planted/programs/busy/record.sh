#!/usr/bin/env bash
# Records healthy programs on a busy machine: record.sh DIR. Thirteen programs; while they run, two
# others take both processors in bursts. Nothing is planted in any. Written down before a command
# saw a recording: those whose file name has an even cksum (r) may be read while rules are changed,
# the others (u) are only counted.
set -eu
here=$(cd "$(dirname "$0")" && pwd) out=$(mkdir -p "$1" && cd "$1" && pwd) tmp=$(mktemp -d)
cd "$tmp"
gcc -O2 -g -pthread -o busy "$here/busy.c" -lm
(cd "$here" && go build -o "$tmp/gobusy" ./gobusy)
javac -d . "$here/Busy.java"
burst='import random,sys,time
r=random.Random(int(sys.argv[1])); stop=time.time()+150
while time.time()<stop:
    end=time.time()+r.expovariate(8)
    while time.time()<end: pass
    time.sleep(r.expovariate(4))'
python3 -c "$burst" 1 & a=$!
python3 -c "$burst" 2 & b=$!
trap 'kill $a $b 2>/dev/null || :' EXIT
for m in compress ray bodies; do ./busy $m m.json && gzip -9 <m.json >"$out/busy-c-$m.json.gz"; done
for m in words sudoku chat merkle; do ./gobusy $m m.trace && gzip -9 <m.trace >"$out/busy-go-$m.trace.gz"; done
for m in markdown sheet; do node "$here/busy.js" $m m.json && gzip -9 <m.json >"$out/busy-node-$m.json.gz"; done
for m in life index; do python3 "$here/busy.py" $m m.json && gzip -9 <m.json >"$out/busy-python-$m.json.gz"; done
for m in store blur; do
	java -XX:StartFlightRecording=filename=j.jfr,settings="$here/../more.jfc" -Xlog:disable -cp . Busy $m >/dev/null
	gzip -9 <j.jfr >"$out/busy-java-$m.jfr.gz"
done
# Six of them again, while four programs take the processors from half a second on.
late() {
	(sleep .5; exec setsid timeout -k 1 6 python3 -c 'import os
for i in range(2): os.fork()
while True: pass') & c=$!
	"$@"
	wait $c || : # until the six seconds are over
}
for m in ray bodies; do late ./busy $m m.json; gzip -9 <m.json >"$out/late-c-$m.json.gz"; done
late ./gobusy words m.trace; gzip -9 <m.trace >"$out/late-go-words.trace.gz"
for m in markdown sheet; do late node "$here/busy.js" $m m.json; gzip -9 <m.json >"$out/late-node-$m.json.gz"; done
late python3 "$here/busy.py" life m.json; gzip -9 <m.json >"$out/late-python-life.json.gz"
for f in "$out"/*.gz; do n=$(basename "$f"); (($(cksum <<<"$n" | cut -d' ' -f1) % 2)) && echo "u $n" || echo "r $n"; done | sed 's/^r busy-go-words/u busy-go-words/; s/^r busy-python-index/u busy-python-index/' >"$out/half.txt" # the last two are moved for a half
