#!/usr/bin/env bash
# Records parts 3 to 6 of the recordings: record.sh DIR. It needs root (perf, tracefs), g++,
# Go, Node, Java 17, Python 3, torch for Debian's Python, Valgrind, and Chromium. Recordings of busy
# machines contain other programs: all but the recorded one are named "other".
set -eu
here=$(cd "$(dirname "$0")" && pwd) out=$(mkdir -p "$1" && cd "$1" && pwd)
mkdir -p /tmp/more && cd /tmp/more
cp "$here"/{More.java,more.js,more.py,page.html,train.py,more.jfc} .
g++ -O2 -g -fno-omit-frame-pointer -pthread -o more "$here/more.cpp"
(cd "$here" && go build -o /tmp/more/gomore ./gomore)
javac More.java
for m in sharing concat throw spinlock cache copy nothing2 cpus; do
	perf record -q -e cpu-clock -F 249 -g -o p.data ./more native-$m
	perf script -i p.data | gzip -9 >"$out/native-$m.perf.txt.gz"
done
for m in trace-{fsync,forced,shards,stages,leak,reader,limit,start,nothing2} cpu-{concat,equal,nothing2} heap-subscribe block-deliver; do
	./gomore $m t.out
	case $m in trace*) gzip -9 <t.out >"$out/go-$m.trace.gz" ;; *) cp t.out "$out/go-$m.pb.gz" ;; esac
done
for m in regex fsync throw timers nothing2; do
	node --cpu-prof --cpu-prof-interval 5000 --cpu-prof-name n.cpuprofile more.js $m
	gzip -9 <n.cpuprofile >"$out/node-$m.cpuprofile.gz"
done
node --heap-prof --heap-prof-name n.heapprofile more.js remember
gzip -9 <n.heapprofile >"$out/node-remember.heapprofile.gz"
for m in deepcopy lru plugins poll backoff log nothing2; do python3 more.py $m m.json && gzip -9 <m.json >"$out/python-$m.json.gz"; done
for m in jobs stream fade textures nothing; do ./more engine-$m m.json && gzip -9 <m.json >"$out/engine-$m.json.gz"; done
for m in regex throw pool audit nothing2; do
	java -XX:StartFlightRecording=filename=j.jfr,settings=$PWD/more.jfc -Xlog:disable -cp . More $m >/dev/null
	gzip -9 <j.jfr >"$out/java-$m.jfr.gz"
done
for m in loader shape nothing; do /usr/bin/python3 train.py $m m.json && gzip -9 <m.json >"$out/torch-$m.json.gz"; done
t=/sys/kernel/tracing/instances/more
mkdir -p $t && echo 20000 >$t/buffer_size_kb && echo 0 >$t/tracing_on
for e in sched_switch sched_wakeup; do echo 1 >$t/events/sched/$e/enable; done
for m in flusher pinned fsync nothing; do
	echo >$t/trace && echo 1 >$t/tracing_on && ./more sched-$m && echo 0 >$t/tracing_on
	python3 "$here/only.py" sched <$t/trace | gzip -9 >"$out/sched-$m.ftrace.txt.gz"
done
echo 0 >$t/events/enable && rmdir $t
for m in layout:1.5 index:5 feed:4 nothing:4; do
	rm -rf profile b.json
	chromium --headless=new --no-sandbox --disable-gpu --disable-extensions --no-first-run --user-data-dir=$PWD/profile --remote-debugging-port=0 \
		--trace-startup=devtools.timeline,v8.execute,disabled-by-default-v8.cpu_profiler,blink.user_timing --trace-startup-duration=8 \
		--trace-startup-format=json --trace-startup-file=$PWD/b.json "file:///tmp/more/page.html#${m%:*}" >/dev/null 2>&1 &
	while [[ ! -s b.json ]]; do sleep 1; done
	sleep 3 && kill $! && wait $! || :
	python3 "$here/only.py" page "${m#*:}" <b.json | gzip -9 >"$out/browser-${m%:*}.json.gz"
done

cp "$here"/{Fresh.java,fresh.js,fresh.py} .
g++ -O2 -g -fno-omit-frame-pointer -o fresh "$here/fresh.cpp"
(cd "$here" && go build -o /tmp/more/gofresh ./gofresh)
javac Fresh.java
for m in trace-{dispatch,log,nothing3} cpu-{settings,reflect} heap-remember mutex-publish; do
	./gofresh $m t.out
	case $m in trace*) gzip -9 <t.out >"$out/go-$m.trace.gz" ;; *) cp t.out "$out/go-$m.pb.gz" ;; esac
done
for m in unique template nothing3; do
	node --cpu-prof --cpu-prof-interval 5000 --cpu-prof-name n.cpuprofile fresh.js $m
	gzip -9 <n.cpuprofile >"$out/node-$m.cpuprofile.gz"
done
for m in snapshot front length; do
	perf record -q -e cpu-clock -F 249 -g -o p.data ./fresh $m
	perf script -i p.data | gzip -9 >"$out/native-$m.perf.txt.gz"
done
for m in decode:gamepy-decode gnothing:gamepy-nothing pool:webpy-pool cache:webpy-cache serial:webpy-serial checkpoint:loop-checkpoint fragment:loop-fragment warmup:loop-warmup; do
	python3 fresh.py "${m%:*}" m.json && gzip -9 <m.json >"$out/${m#*:}.json.gz"
done
for m in linked sync; do
	java -XX:StartFlightRecording=filename=j.jfr,settings=$PWD/more.jfc -Xlog:disable -cp . Fresh $m >/dev/null
	gzip -9 <j.jfr >"$out/java-$m.jfr.gz"
done

cp "$here"/{Sixth.java,sixth.js,sixth.py} .
g++ -O2 -g -fno-omit-frame-pointer -pthread -o sixth "$here/sixth.cpp"
(cd "$here" && go build -o /tmp/more/gosixth ./gosixth)
javac Sixth.java
for m in trace-{watch,pool,abandon,cron,wake,save,partition,nothing4,nothing5} cpu-{deadline,log,rates,nothing3} heap-{header,nothing2} mutex-metrics block-pool; do
	./gosixth $m t.out
	case $m in trace*) gzip -9 <t.out >"$out/go-$m.trace.gz" ;; *) cp t.out "$out/go-$m.pb.gz" ;; esac
done
for m in leak nothing; do ./gosixth goroutine-$m "$out/goroutine-$m.pb.gz"; done
for m in upload settings board poll dates nothing4; do
	node --cpu-prof --cpu-prof-interval 5000 --cpu-prof-name n.cpuprofile sixth.js $m
	gzip -9 <n.cpuprofile >"$out/node-$m.cpuprofile.gz"
done
node --heap-prof --heap-prof-name n.heapprofile sixth.js listen
gzip -9 <n.heapprofile >"$out/node-listen.heapprofile.gz"
for m in files nothing5; do
	node --trace-event-categories node.fs.sync,v8 --trace-event-file-pattern n.json sixth.js $m
	gzip -9 <n.json >"$out/node-traceevents-$m.json.gz"
done
for m in csv dates copy semaphore ready flush nothing3; do
	java -XX:StartFlightRecording=filename=j.jfr,settings=$PWD/more.jfc -Xlog:disable -cp . Sixth $m >/dev/null
	gzip -9 <j.jfr >"$out/java-$m.jfr.gz"
done
for m in avatar backlog upstream thumbs audit nothing3; do python3 sixth.py $m m.json && gzip -9 <m.json >"$out/python-$m.json.gz"; done
for m in router nothing4; do python3 sixth.py stacks-$m m.folded && gzip -9 <m.folded >"$out/python-$m.folded.gz"; done
for m in settings buckets columns yield nodes nothing3; do
	perf record -q -e cpu-clock -F 249 -g -o p.data ./sixth native-$m
	perf script -i p.data | gzip -9 >"$out/native-$m.perf.txt.gz"
done
for m in stamps nothing; do
	valgrind -q --tool=callgrind --callgrind-out-file=c.out ./sixth grind-$m
	gzip -9 <c.out >"$out/grind-$m.callgrind.gz"
done
for m in audio-callback physics-{substeps,nothing} tiles-{tiles,nothing} broker-subscriber viewer-textures; do ./sixth $m m.json && gzip -9 <m.json >"$out/$m.json.gz"; done
