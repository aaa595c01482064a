#!/bin/sh
# Makes the recordings in this folder anew, as README.md tells: needs Go, zstd
# and Debian's linux-perf, and a kernel that lets perf in.
set -eu
cd "$(dirname "$0")"
# perf writes the program's path into every line: one that is nobody's home.
bin=/usr/local/bin/visits
work=$(mktemp -d)
trap 'rm -rf "$work" "$bin"' EXIT
for tags in before indexed; do
	name=before
	[ $tags = before ] || name=after
	go build -trimpath -buildvcs=false -tags $tags -o $bin .
	# The software clock, stacks by frame pointers; the program profiles itself
	# meanwhile. Without preemption, which comes with a signal of its own that
	# the profiler would count where it was about to strike.
	GODEBUG=asyncpreemptoff=1 perf record -q -e cpu-clock -F 199 -g -o "$work/perf.data" -- $bin -cpuprofile "$work/$name.pb.gz"
	perf script -i "$work/perf.data" | zstd -q -19 -f -o $name.perf.zst
	mv "$work/$name.pb.gz" $name.pb.gz
done
